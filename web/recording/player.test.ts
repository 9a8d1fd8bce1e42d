import { expect, test } from "vitest";
import type { CastEvent } from "./cast.ts";
import type { Recording } from "./load-recording.ts";
import { type PlayedScreen, Player } from "./player.ts";

const events: readonly CastEvent[] = [
  { at: 1, kind: "output", text: "a" },
  { at: 1.5, kind: "size", cols: 100, rows: 40 },
  { at: 1.5, kind: "output", text: "b" },
  { at: 60, kind: "remark", text: "5 bytes are no longer kept" },
  { at: 61, kind: "output", text: "c" },
];

test("opens at a recorded moment, with everything that was before it", async () => {
  const { player, drawn } = open(events);
  await player.start(30);
  expect(drawn()).toBe("<80x24>a<100x40>b");
  // Two of the pause of 58.5 seconds are shown.
  expect(player.state.get()).toMatchObject({ duration: 4.5, isDense: true });
  expect(player.recordedAt).toBeCloseTo(30, 6);
});

test("goes on from where it is, and back from the beginning", async () => {
  const { player, drawn } = open(events);
  await player.start(0);
  await player.seek(1);
  expect(drawn()).toBe("<80x24>a");
  await player.seek(4.5);
  expect(drawn()).toBe("<80x24>a<100x40>b{5 bytes are no longer kept}c");
  await player.seek(1.2);
  expect(drawn()).toBe("<80x24>a");
});

test("whoever seeks while it seeks gets the last moment", async () => {
  const { player, drawn } = open(events);
  await Promise.all([player.start(60), player.seek(4.5), player.seek(1)]);
  expect(drawn()).toBe("<80x24>a");
  expect(player.state.get()).toMatchObject({ position: 1, progress: undefined });
});

test("a moment outside of it is its beginning or its end", async () => {
  const { player } = open(events);
  await player.seek(-5);
  expect(player.state.get().position).toBe(0);
  await player.seek(1e9);
  expect(player.state.get().position).toBe(4.5);
});

test("plays at its speed, waits for the screen, and stops at the end", async () => {
  const { player, drawn, frame } = open(events);
  await player.start(0);
  player.setSpeed(4);
  player.play();
  await frame(200);
  expect(player.state.get().position).toBeCloseTo(0.8, 6);
  await frame(100);
  expect(drawn()).toBe("<80x24>a");
  // A frame that comes late is not caught up with.
  await frame(60_000);
  expect(player.state.get().position).toBeCloseTo(2.2, 6);
  for (let count = 0; count < 4; count += 1) await frame(250);
  expect(player.state.get()).toMatchObject({ isPlaying: false, position: 4.5 });
  expect(drawn()).toContain("c");
});

test("played from its end it begins anew", async () => {
  const { player, drawn, frame } = open(events);
  await player.start(1e9);
  player.play();
  await frame(100);
  expect(player.state.get().isPlaying).toBe(true);
  expect(drawn()).toBe("<80x24>");
});

test("a pause keeps the moment", async () => {
  const { player, frame } = open(events);
  await player.start(0);
  player.play();
  await frame(100);
  player.toggle();
  await frame(100);
  expect(player.state.get()).toMatchObject({ isPlaying: false, position: 0.1 });
});

test("showing pauses or leaving them out keeps the recorded moment", async () => {
  const { player } = open(events);
  await player.start(30);
  player.setDense(false);
  expect(player.state.get()).toMatchObject({ duration: 61, isDense: false });
  expect(player.state.get().position).toBeCloseTo(30, 6);
  expect(player.marks).toEqual([1.5]);
  player.setDense(true);
  expect(player.recordedAt).toBeCloseTo(30, 6);
  expect(player.state.get().position).toBeLessThan(4.5);
});

test("a long way is gone piece by piece, and says how far it is", async () => {
  const long = Array.from({ length: 10 }, (_, at) => ({
    at,
    kind: "output" as const,
    text: "x".repeat(100_000),
  }));
  const { player, drawn } = open(long);
  const seen: number[] = [];
  player.state.subscribe(() => {
    const { progress } = player.state.get();
    if (progress !== undefined) seen.push(progress);
  });
  await player.start(9);
  expect(drawn()).toHaveLength(1_000_000 + "<80x24>".length);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen[0]).toBeLessThan(1);
});

function open(list: readonly CastEvent[]) {
  let drawn = "";
  const screen: PlayedScreen = {
    reset: () => {
      drawn = "";
    },
    write: async (text) => {
      await Promise.resolve();
      drawn += text;
    },
    resize: async ({ cols, rows }) => {
      drawn += `<${cols}x${rows}>`;
    },
    remark: async (text) => {
      drawn += `{${text}}`;
    },
    settled: () => Promise.resolve(),
  };
  let now = 0;
  let next: (() => void) | undefined;
  const clock = {
    now: () => now,
    onFrame: (run: () => void) => {
      next = run;
      return () => {
        next = undefined;
      };
    },
  };
  const header = { cols: 80, rows: 24, timestamp: undefined };
  const recording: Recording = { header, events: list, isCut: false, skipped: 0 };
  const player = new Player(recording, screen, clock);
  return {
    player,
    drawn: () => drawn,
    frame: async (ms: number) => {
      now += ms;
      next?.();
      // What the frame began is done when a seek to the same place is.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    },
  };
}
