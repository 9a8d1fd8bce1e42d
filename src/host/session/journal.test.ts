import { expect, test } from "vitest";
import { FullDisk } from "#host/testing/full-disk.ts";
import { openKeeper } from "#host/testing/open-keeper.ts";
import { openLogFiles } from "#log/log-files.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { Journal } from "./journal.ts";

const CLOSE_AGAIN_MS = 1000;

function openJournal(dir: string) {
  const { clock, keeper } = openKeeper(dir);
  const disk = new FullDisk();
  let moves = 0;
  const moved = () => {
    moves += 1;
  };
  const noted = () => undefined;
  const retainBytes = 1 << 20;
  const journal = new Journal({ dir, clock, keeper, retainBytes, io: disk.io, moved, noted });
  journal.open();
  return { clock, keeper, disk, journal, moves: () => moves };
}

function eventsIn(dir: string): string {
  using files = openLogFiles(`${dir}/events`);
  const chunk = files.tail() === 0 ? undefined : files.read(0, { limit: 1 << 20 });
  return chunk?.kind === "bytes" ? Buffer.from(chunk.bytes).toString() : "";
}

const title = { type: "session.title", title: "the last word" } as const;

test("what finds no room at the end is written before the log is closed", () => {
  using dir = openTempDir();
  const { clock, disk, journal, keeper, moves } = openJournal(dir.path);
  disk.room = 0;
  journal.note(title);
  expect(journal.close()).toBe(false);
  clock.advance(3 * CLOSE_AGAIN_MS);
  expect(eventsIn(dir.path)).toBe("");
  expect(journal.isOpen).toBe(false);
  disk.room = Number.POSITIVE_INFINITY;
  const before = moves();
  clock.advance(CLOSE_AGAIN_MS);
  expect(eventsIn(dir.path)).toContain("the last word");
  expect(keeper.current.events_tail).toBe(eventsIn(dir.path).length);
  expect(moves()).toBeGreaterThan(before);
  expect(journal.close()).toBe(false);
});

test("a log that somebody opens again while it waits stays open", () => {
  using dir = openTempDir();
  const { clock, disk, journal } = openJournal(dir.path);
  disk.room = 0;
  journal.note(title);
  journal.close();
  journal.open();
  disk.room = Number.POSITIVE_INFINITY;
  clock.advance(5 * CLOSE_AGAIN_MS);
  expect(journal.isOpen).toBe(true);
  expect(journal.close()).toBe(true);
});

test("a log that is abandoned is not tried again", () => {
  using dir = openTempDir();
  const { clock, disk, journal } = openJournal(dir.path);
  disk.room = 0;
  journal.note(title);
  journal.close();
  expect(journal.abandon()).toBe(true);
  disk.room = Number.POSITIVE_INFINITY;
  clock.advance(5 * CLOSE_AGAIN_MS);
  expect(eventsIn(dir.path)).toBe("");
});

test("of more facts than may wait for room the oldest go, and what is half written is not cut", () => {
  using dir = openTempDir();
  const { clock, disk, journal } = openJournal(dir.path);
  disk.room = 60;
  for (let at = 0; at < 150; at += 1) journal.note({ ...title, title: `number ${at} of all` });
  disk.room = Number.POSITIVE_INFINITY;
  // The log itself pauses after failures.
  clock.advance(1000);
  expect(journal.settle()).toBe(true);
  const titles = eventsIn(dir.path)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).title);
  expect([titles[0], titles[1], titles.at(-1), titles.length]).toEqual([
    "number 0 of all",
    "number 51 of all",
    "number 149 of all",
    100,
  ]);
});
