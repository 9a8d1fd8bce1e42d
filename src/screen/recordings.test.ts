import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { channels } from "#contract/channels.ts";
import type { ScreenState, ScreenText } from "#contract/operations/screen.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { Emulator, type ScreenSize } from "#screen/emulator/emulator.ts";
import { renderText } from "#screen/emulator/text.ts";
import { listRecordings, type Recording, writeSession } from "#test/harness/recordings.ts";
import { repeats } from "#test/harness/repeats.ts";
import { visibleOf } from "#test/harness/screen-compare.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { CHECKPOINT_FILE } from "./checkpoint-file.ts";
import type { ScreenRequest } from "./requests.ts";
import { SessionScreen } from "./session-screen.ts";

const recordings = listRecordings();
/** So that short recordings have several. */
const CHECKPOINT_BYTES = 500;
const OFFSETS = repeats({ few: 4, full: 16 });

test("there are at least 20 recordings", () => {
  expect(recordings.length).toBeGreaterThanOrEqual(20);
});

test.each(recordings)(
  "$name: at any offset the screen is that of a terminal fed from byte 0",
  async (recording) => {
    using dir = openTempDir();
    writeSession(dir.path, recording);
    const tail = recording.bytes.length;
    using screen = new SessionScreen(dir.path, { checkpointBytes: CHECKPOINT_BYTES });
    const offsets = fc.sample(fc.integer({ min: 0, max: tail }), { seed: 7, numRuns: OFFSETS });
    for (const at of [...offsets, tail]) {
      const text = (await screen.render(
        requestOf(recording, { at, format: "text" }),
      )) as ScreenText;
      using fed = feed(recording, text.offset, at);
      expect(text).toEqual({ ...text, ...renderText(fed), ...fed.size, exact: true });
      expect(at - text.offset).toBeLessThan(200);
      const state = (await screen.render(
        requestOf(recording, { at, format: "state" }),
      )) as ScreenState;
      using painted = new Emulator({ size: state, convertEol: false });
      painted.write(state.state);
      expect(visibleOf(painted)).toEqual(visibleOf(fed));
      play(painted, recording, { from: state.offset, to: tail, resized: at });
      play(fed, recording, { from: state.offset, to: tail, resized: at });
      expect(visibleOf(painted)).toEqual(visibleOf(fed));
    }
  },
);

test.each(recordings)(
  "$name: another process goes on from the checkpoint on disk",
  async (recording) => {
    using dir = openTempDir();
    writeSession(dir.path, recording);
    const tail = recording.bytes.length;
    const half = Math.floor(tail / 2);
    {
      using first = new SessionScreen(dir.path, { checkpointBytes: CHECKPOINT_BYTES / 5 });
      await first.render(requestOf(recording, { at: half, format: "none" }));
    }
    using second = new SessionScreen(dir.path);
    const state = (await second.render(requestOf(recording, { format: "state" }))) as ScreenState;
    using fed = feed(recording, state.offset, tail);
    using painted = new Emulator({ size: state, convertEol: false });
    painted.write(state.state);
    expect(visibleOf(painted)).toEqual(visibleOf(fed));
  },
);

test("with all recordings in one log that is evicted meanwhile, who follows stays exact and who comes late is told", async () => {
  using dir = openTempDir();
  const clock = new ManualClock();
  using output = openLogWriter({
    dir: join(dir.path, "output"),
    clock,
    segmentBytes: 4096,
    retainBytes: 32 * 1024,
  });
  using screen = new SessionScreen(dir.path, { checkpointBytes: CHECKPOINT_BYTES * 8 });
  using fed = new Emulator({ size: { cols: 80, rows: 24 }, convertEol: false });
  for (const { bytes, resizes } of recordings) {
    let at = 0;
    for (const resize of [...resizes, { offset: bytes.length, cols: 80, rows: 24 }]) {
      const part = bytes.subarray(at, resize.offset);
      output.append(channels.stdout, part);
      fed.write(part);
      await screen.render(logRequest(dir.path, output.tail, fed.size));
      output.mark("resize", resize.cols, resize.rows);
      fed.resize(resize);
      at = resize.offset;
    }
  }
  const request = { ...logRequest(dir.path, output.tail, fed.size), format: "state" } as const;
  const state = (await screen.render(request)) as ScreenState;
  expect(state.exact).toBe(true);
  using painted = new Emulator({ size: state, convertEol: false });
  painted.write(state.state);
  expect(visibleOf(painted)).toEqual(visibleOf(fed));

  // Back in time, where only checkpoints know what was evicted.
  const back = await screen.render({ ...request, at: output.tail - 20 * 1024 });
  expect(back).toMatchObject({ exact: true });

  rmSync(join(dir.path, CHECKPOINT_FILE));
  using late = new SessionScreen(dir.path);
  expect(await late.render(request)).toMatchObject({ exact: false, cols: 80, rows: 24 });
});

function requestOf(
  recording: Recording,
  { at, format }: { readonly at?: number; readonly format: ScreenRequest["format"] },
): ScreenRequest {
  const last = recording.resizes.at(-1) ?? recording;
  return {
    session_id: "ses_0000000000000001",
    folder: "",
    format,
    at,
    tail: recording.bytes.length,
    sizeAtTail: { cols: last.cols, rows: last.rows },
    convertEol: false,
  };
}

function logRequest(folder: string, tail: number, sizeAtTail: ScreenSize): ScreenRequest {
  return {
    session_id: "ses_0000000000000001",
    folder,
    format: "none",
    at: undefined,
    tail,
    sizeAtTail,
    convertEol: false,
  };
}

/** Fed with the bytes in one go between two resizes, with all resizes up to `resized`. */
function feed(recording: Recording, to: number, resized: number): Emulator {
  const emulator = new Emulator({ size: recording, convertEol: false });
  play(emulator, recording, { from: 0, to, resized: -1 });
  for (const resize of recording.resizes)
    if (resize.offset >= to && resize.offset <= resized) emulator.resize(resize);
  return emulator;
}

/** The bytes and the resizes of a range; those up to `resized` have been made. */
function play(
  emulator: Emulator,
  { bytes, resizes }: Recording,
  { from, to, resized }: { readonly from: number; readonly to: number; readonly resized: number },
): void {
  let at = from;
  for (const resize of resizes) {
    if (resize.offset < from || resize.offset >= to || resize.offset <= resized) continue;
    emulator.write(bytes.subarray(at, resize.offset));
    emulator.resize(resize);
    at = resize.offset;
  }
  emulator.write(bytes.subarray(at, to));
}
