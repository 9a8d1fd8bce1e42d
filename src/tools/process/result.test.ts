import { expect, test } from "vitest";
import { exitedState, openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { readProcess } from "./result.ts";

test("a character that is half there is shown as a whole when its rest has come", async () => {
  using session = openWrittenSession();
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const { clock } = session;
  const [lead = 0, rest = 0] = Buffer.from("é");
  session.print(Buffer.from([0x61, lead]));
  const first = readProcess(handle, { clock });
  expect(first).toMatchObject({ output: "a", next_offset: 1, running: true });
  session.print(Buffer.from([rest, 0x62]));
  expect(readProcess(handle, { clock, since: first.next_offset })).toMatchObject({ output: "éb" });
});

test("what has exited half a character is shown to its end", async () => {
  using session = openWrittenSession();
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  session.print(Buffer.from("aé").subarray(0, 2));
  session.enter(exitedState(2, { final: true }));
  const read = readProcess(handle, { clock: session.clock });
  expect(read).toMatchObject({ output: "a\uFFFD", next_offset: 2, running: false });
});
