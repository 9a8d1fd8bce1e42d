import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { channels } from "#contract/channels.ts";
import { openLogWriter } from "#log/log-writer.ts";
import { writeSession } from "#test/harness/recordings.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import type { ScreenRequest } from "./requests.ts";
import { ScreenCache } from "./screen-cache.ts";
import { SessionScreen } from "./session-screen.ts";

const MIB = 1024 * 1024;
const SIZE = { cols: 80, rows: 24 };
const CELLS = 80 * 1024;
const roomy = { live: 4, cells: 100 * CELLS, sessions: 100, packedChars: MIB };

test("keeps no more emulators than it may, and draws the others from their checkpoints", async () => {
  using dir = openTempDir();
  using cache = new ScreenCache({ ...roomy, live: 2 });
  for (const round of [1, 2]) {
    for (let session = 0; session < 6; session += 1) {
      if (round === 1) write(dir.path, session, `number ${session}\x1b[5`);
      const answer = await cache.render(requestOf(dir.path, session));
      expect(answer).toMatchObject({ lines: expect.arrayContaining([`number ${session}`]) });
      expect(cache.liveCells).toBeLessThanOrEqual(2 * CELLS);
    }
  }
});

test("keeps no more cells, sessions and checkpoints than it may", async () => {
  using dir = openTempDir();
  using cache = new ScreenCache({ ...roomy, cells: CELLS, sessions: 3 });
  for (let session = 0; session < 5; session += 1) {
    write(dir.path, session, `number ${session}`);
    await cache.render(requestOf(dir.path, session));
  }
  expect(cache.liveCells).toBeLessThanOrEqual(CELLS);
  expect(cache.size).toBe(3);
  using small = new ScreenCache({ ...roomy, live: 0, packedChars: 10 });
  await small.render(requestOf(dir.path, 0));
  await small.render(requestOf(dir.path, 1));
  expect(small.size).toBe(0);
});

test("a session with much to draw lets the others through", async () => {
  using dir = openTempDir();
  using cache = new ScreenCache();
  const long = write(dir.path, 1, "many words to draw\r\n".repeat(200_000));
  write(dir.path, 2, "short");
  const finished: string[] = [];
  const both = [
    cache.render(requestOf(dir.path, 1, long)).then(() => finished.push("long")),
    cache.render(requestOf(dir.path, 2)).then(() => finished.push("short")),
  ];
  await Promise.all(both);
  expect(finished).toEqual(["short", "long"]);
});

test("what takes too long is given up, and goes on from there when asked again", async () => {
  using dir = openTempDir();
  const tail = write(dir.path, 1, `${"many words to draw\r\n".repeat(100_000)}end`);
  using screen = new SessionScreen(join(dir.path, "1"), { requestMs: 0 });
  const reached: number[] = [];
  for (;;) {
    const answer = await screen
      .render(requestOf(dir.path, 1, tail))
      .catch((error: unknown) => error);
    if (!(answer instanceof Error)) break;
    expect(answer).toMatchObject({ code: "busy", message: expect.stringContaining("ask again") });
    reached.push(Number(Object(answer).details.offset));
  }
  expect(reached.length).toBeGreaterThan(1);
  expect(reached).toEqual(reached.toSorted((a, b) => a - b));
});

test("a time at which the terminal was too large is passed, and said not to be exact", async () => {
  using dir = openTempDir();
  const bytes = Buffer.from("before huge after");
  const resizes = [
    { offset: 7, cols: 4096, rows: 4096 },
    { offset: 12, cols: 80, rows: 24 },
  ];
  writeSession(join(dir.path, "1"), { ...SIZE, bytes, resizes });
  using screen = new SessionScreen(join(dir.path, "1"));
  const request = requestOf(dir.path, 1, bytes.length);
  expect(await screen.render({ ...request, at: 3 })).toMatchObject({ exact: true });
  await expect(screen.render({ ...request, at: 9 })).rejects.toMatchObject({ code: "unsupported" });
  expect(await screen.render(request)).toMatchObject({
    exact: false,
    lines: expect.arrayContaining(["before huge after"]),
  });
});

test("behind bytes that were lost the screen begins anew, in the size of the end", async () => {
  using dir = openTempDir();
  const clock = new ManualClock();
  using output = openLogWriter({ dir: join(dir.path, "1", "output"), clock });
  output.append(channels.stdout, Buffer.from("\x1b]2;title\x07\x1b[?1049hbefore"));
  output.skip(1000);
  output.append(channels.stdout, Buffer.from("after"));
  using screen = new SessionScreen(join(dir.path, "1"));
  const request = { ...requestOf(dir.path, 1, output.tail), sizeAtTail: { cols: 30, rows: 4 } };
  expect(await screen.render(request)).toMatchObject({
    exact: false,
    title: "title",
    alternate: false,
    ...{ cols: 30, rows: 4, lines: ["after", "", "", ""] },
  });
});

test("requests for one session at once are each answered for their own place", async () => {
  using dir = openTempDir();
  using cache = new ScreenCache();
  const tail = write(dir.path, 1, "many words to draw\r\n".repeat(100_000));
  const now = requestOf(dir.path, 1, tail);
  const places = Array.from({ length: 9 }, (_, part) => Math.floor((tail * (part + 1)) / 10));
  const answers = await Promise.all([
    cache.render(now),
    ...places.map((at) => cache.render({ ...now, at })),
  ]);
  expect(answers.map(({ offset }) => offset)).toEqual([tail, ...places]);
});

test("a resize at the tail is tried on a copy, and what is unfinished there stays before it", async () => {
  using dir = openTempDir();
  const bytes = Buffer.from(`${"w".repeat(100)}\x1b[3`);
  const tail = bytes.length;
  writeSession(join(dir.path, "1"), { ...SIZE, bytes, resizes: [] });
  using screen = new SessionScreen(join(dir.path, "1"));
  const request = requestOf(dir.path, 1, tail);
  const before = await screen.render({ ...request, format: "state" });
  const resized = { ...request, sizeAtTail: { cols: 7, rows: 3 } };
  expect(await screen.render(resized)).toMatchObject({ cols: 7, rows: 3, offset: tail - 3 });
  // Seven columns would have torn the line apart for good.
  expect(await screen.render({ ...request, format: "state" })).toEqual(before);
});

test("a session that has printed nothing has an empty screen", async () => {
  using dir = openTempDir();
  using screen = new SessionScreen(join(dir.path, "1"));
  expect(await screen.render(requestOf(dir.path, 1, 0))).toMatchObject({
    offset: 0,
    exact: true,
    cursor: { row: 0, col: 0, visible: true },
  });
});

function write(folder: string, session: number, text: string): number {
  const bytes = Buffer.from(text);
  writeSession(join(folder, `${session}`), { ...SIZE, bytes, resizes: [] });
  return bytes.length;
}

function requestOf(folder: string, session: number, tail?: number): ScreenRequest {
  return {
    session_id: `${session}`,
    folder: join(folder, `${session}`),
    format: "text",
    at: undefined,
    tail: tail ?? "number 0".length,
    sizeAtTail: SIZE,
    convertEol: false,
  };
}
