import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { FullDisk } from "#host/testing/full-disk.ts";
import { openTestSessions, readEvents, readOutput } from "#host/testing/open-test-sessions.ts";
import { AgentLines } from "./agent-lines.ts";

test("lines arrive whole and in order, however they are cut and however often the disk is full", () => {
  const line = fc
    .string({ unit: "grapheme", maxLength: 20 })
    .map((text) => `${text.replaceAll("\n", " ")}\n`);
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.infiniteStream(fc.option(fc.nat(12), { nil: undefined })),
      (written, cuts, room) => {
        const all = Buffer.from(written.join(""));
        const kept: Buffer[] = [];
        const clock = new ManualClock();
        const agent = new AgentLines({
          clock,
          append: (lines) => {
            const fits = room.next().value;
            const count = fits === undefined ? lines.length : Math.min(fits, lines.length);
            kept.push(Buffer.from(lines.subarray(0, count)));
            return count;
          },
          tooLong: () => expect.unreachable("no line is too long"),
          held: () => undefined,
        });
        for (let at = 0, turn = 0; at < all.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          agent.push(all.subarray(at, at + size));
          at += size;
          if (turn % 3 === 0) clock.advance(1000);
        }
        for (let retries = 0; agent.isHeld && retries < 10_000; retries += 1) clock.advance(1000);
        expect(Buffer.concat(kept).equals(all)).toBe(true);
      },
    ),
  );
});

test("a line over the limit is dropped and said, its neighbours stay", () => {
  const kept: string[] = [];
  let dropped = 0;
  const agent = new AgentLines({
    clock: new ManualClock(),
    append: (lines) => kept.push(lines.toString()) && lines.length,
    tooLong: () => {
      dropped += 1;
    },
    held: () => undefined,
  });
  agent.push(Buffer.from("a\n"));
  const piece = Buffer.alloc(64 * 1024, "x");
  for (let bytes = 0; bytes <= limits.event_line_bytes; bytes += piece.length) agent.push(piece);
  agent.push(Buffer.from("tail of it\nb\n"));
  expect(kept.join("")).toBe("a\nb\n");
  expect(dropped).toBe(1);
});

test("a line that its last bytes take over the limit is dropped and said, and one that just fits is kept", () => {
  const kept: Buffer[] = [];
  let dropped = 0;
  const agent = new AgentLines({
    clock: new ManualClock(),
    append: (lines) => kept.push(lines) && lines.length,
    tooLong: () => {
      dropped += 1;
    },
    held: () => undefined,
  });
  const longest = Buffer.alloc(limits.event_line_bytes, "x");
  agent.push(longest);
  agent.push(Buffer.from("\na\n"));
  expect([dropped, Buffer.concat(kept).length]).toEqual([0, longest.length + 3]);
  agent.push(longest);
  agent.push(Buffer.from("x\nb\n"));
  expect([dropped, kept.at(-1)?.length]).toEqual([1, 2]);
});

test("an agent's stdout is its events, its stderr its output, its stdin open", async () => {
  await using host = openTestSessions();
  const { session, child } = await host.open({ kind: "agent", argv: ["agent"] });
  child.print('{"type":"turn.started"}\n{"type":"turn');
  child.print('.ended"}\n');
  child.print("diagnostics", "stderr");
  expect(readEvents(session).map((event) => event.type)).toEqual([
    "session.opened",
    "turn.started",
    "turn.ended",
  ]);
  expect(readOutput(session)).toBe("diagnostics");
  expect(host.spawner.specs[0]?.stdin).toBe(true);
});

test("an agent's exit comes behind its last event, however long that waits for room", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await host.open({ kind: "agent", argv: ["agent"] });
  disk.room = 0;
  child.print('{"type":"turn.started"}\n');
  expect(child.isPaused).toBe(true);
  child.print('{"type":"turn.ended"}\n');
  child.exit({ exit_code: 3, signal: null });
  child.finish();
  host.clock.advance(10_000);
  expect(session.isLive).toBe(true);
  disk.room = Number.POSITIVE_INFINITY;
  host.clock.advance(1000);
  expect(session.view().state).toMatchObject({ kind: "exited", exit_code: 3, final: true });
  expect(readEvents(session).map((event) => event.type)).toEqual([
    "session.opened",
    "turn.started",
    "turn.ended",
    "session.exited",
  ]);
});

test("a fact never lands inside a line of which half is written", async () => {
  const disk = new FullDisk();
  await using host = openTestSessions({ logIo: disk.io });
  const { session, child } = await host.open({ kind: "agent", argv: ["agent"] });
  disk.room = 60;
  child.print(`{"type":"message.delta","text":"${"x".repeat(100)}"}\n`);
  session.audience.attach("ana", "viewer", { takeover: false });
  // There is room again, but the agent's line has not been tried again yet.
  disk.room = Number.POSITIVE_INFINITY;
  host.clock.advance(50);
  session.audience.detach("ana");
  host.clock.advance(5000);
  expect(readEvents(session).map((event) => event.type)).toEqual([
    "session.opened",
    "message.delta",
    "session.attached",
    "session.detached",
  ]);
});
