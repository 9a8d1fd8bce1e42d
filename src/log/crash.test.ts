import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { openLogFiles } from "./log-files.ts";
import type { LogIo } from "./log-io.ts";
import { type LogWriter, openLogWriter, RETRY_MS } from "./log-writer.ts";
import { Crash, createFaultyIo, type Trouble } from "./testing/faulty-io.ts";
import { collect, LogModel } from "./testing/log-model.ts";
import { openTempDir } from "./testing/temp-dir.ts";

const SEGMENT_BYTES = 40;

/** One call to the writer: says how many bytes it persisted of those it was given. */
interface Call {
  readonly text: string;
  readonly channel: number;
  readonly bytes: Uint8Array;
  readonly skipped: number;
  readonly run: (writer: LogWriter) => number;
}

const none = { channel: 0, bytes: new Uint8Array(), skipped: 0 };
const append = fc
  .tuple(fc.integer({ min: 1, max: 2 }), fc.uint8Array({ minLength: 1, maxLength: 50 }))
  .map(([channel, bytes]): Call => {
    const run = (writer: LogWriter) => writer.append(channel, bytes);
    return { ...none, text: `append ${channel} [${bytes}]`, channel, bytes, run };
  });
const skip = fc.integer({ min: 1, max: 130 }).map((skipped): Call => {
  const run = (writer: LogWriter) => {
    writer.skip(skipped);
    return 0;
  };
  return { ...none, text: `skip ${skipped}`, skipped, run };
});
const mark = fc.constant<Call>({
  ...none,
  text: "mark",
  run: (writer) => {
    writer.mark("resize", 80, 24);
    return 0;
  },
});
const calls = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: append },
    { weight: 1, arbitrary: skip },
    { weight: 1, arbitrary: mark },
  ),
  { minLength: 1, maxLength: 6 },
);

/** A process with its troubles, one for each change that it makes to the disk. Dead, it holds no file open. */
class Life implements Disposable {
  readonly io: LogIo;
  readonly #open = new Set<number>();

  constructor(troubles: readonly Trouble[]) {
    const left = [...troubles];
    const io = createFaultyIo(() => left.shift() ?? "none");
    this.io = {
      ...io,
      openSync: (path, flags, mode) => {
        const fd = io.openSync(path, flags, mode);
        this.#open.add(fd);
        return fd;
      },
      closeSync: (fd) => {
        this.#open.delete(fd);
        io.closeSync(fd);
      },
    };
  }

  [Symbol.dispose](): void {
    for (const fd of this.#open) this.io.closeSync(fd);
  }
}

/** Lives until it crashes; the model becomes what the log may hold at most, `published` is what it must. */
function live(dir: string, model: LogModel, given: { list: readonly Call[]; life: Life }) {
  const { io } = given.life;
  const clock = new ManualClock();
  const writer = openLogWriter({ dir, clock, segmentBytes: SEGMENT_BYTES, io });
  expect(writer.tail).toBe(model.tail);
  let owed = 0;
  for (const { channel, bytes, skipped, run } of given.list) {
    const published = model.tail;
    owed += skipped;
    try {
      const count = run(writer);
      const lost = writer.tail - published - count;
      model.lose(lost);
      model.append(channel, bytes.subarray(0, count));
      owed -= lost;
      if (writer.fault !== undefined) clock.advance(RETRY_MS);
    } catch (error) {
      expect(error).toBeInstanceOf(Crash);
      model.lose(owed);
      model.append(channel, bytes);
      return { published, crashed: true };
    }
  }
  return { published: model.tail, crashed: false };
}

/** What a stranger finds, which is then all that there is. */
function expectReadable(dir: string, model: LogModel, published: number): void {
  using source = openLogFiles(dir);
  expect(source.tail()).toBeGreaterThanOrEqual(published);
  expect(source.tail()).toBeLessThanOrEqual(model.tail);
  model.cut(source.tail());
  expect(collect(source, 0).held).toEqual(model);
}

function crashEverywhere(
  first: readonly Call[],
  second: readonly Call[],
  troubles: Troubles,
): void {
  for (let fatal = 0, crashed = true; crashed; fatal += 1) {
    using temp = openTempDir();
    const dir = join(temp.path, "log");
    const model = new LogModel();
    using life = new Life([
      ...troubles.before.slice(0, fatal),
      ...pad(fatal, troubles),
      troubles.last,
    ]);
    const end = live(dir, model, { list: first, life });
    crashed = end.crashed;
    expectReadable(dir, model, end.published);
    using next = new Life([]);
    const last = live(dir, model, { list: second, life: next });
    expectReadable(dir, model, last.published);
  }
}

interface Troubles {
  readonly before: readonly Trouble[];
  readonly last: Trouble;
}

function pad(fatal: number, { before }: Troubles): Trouble[] {
  return new Array<Trouble>(Math.max(0, fatal - before.length)).fill("none");
}

const last = fc.constantFrom<Trouble>("crash", "torn");
const timeout = 60_000;

test("a crash at any call to the disk, also halfway through it, leaves a log that reads and goes on", {
  timeout,
}, () => {
  const troubles = fc.record({ before: fc.constant([]), last });
  fc.assert(fc.property(calls, calls, troubles, crashEverywhere), { numRuns: 15 });
});

test("so does a crash on a disk that was full or failing before", { timeout }, () => {
  const before = fc.array(fc.constantFrom<Trouble>("none", "none", "full", "part", "broken"), {
    maxLength: 20,
  });
  fc.assert(fc.property(calls, calls, fc.record({ before, last }), crashEverywhere), {
    numRuns: 25,
  });
});
