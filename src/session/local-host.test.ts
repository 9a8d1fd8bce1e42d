import { expect, test } from "vitest";
import { openTestHost } from "#test/harness/host.ts";

test("everybody who follows a session shares one watch, and the last takes it along", async () => {
  await using host = await openTestHost();
  const { session_id } = await host.create({ argv: ["/bin/cat"], stdin: true });
  const local = host.hosts.of(session_id);
  const [first, second] = await Promise.all([local.open(session_id), local.open(session_id)]);
  expect(first.output).toBe(second.output);
  expect(local.followed).toBe(1);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect([local.followed, second.state]).toEqual([1, "open"]);
  second[Symbol.dispose]();
  expect([local.followed, second.state]).toEqual([0, "closed"]);
});

test("a session that is not there leaves nothing behind", async () => {
  await using host = await openTestHost();
  const sessionId = "ses_0000000000000000";
  const local = host.hosts.of(sessionId);
  const refused = expect.objectContaining({ code: "session_not_found" });
  await Promise.all([
    expect(local.open(sessionId)).rejects.toEqual(refused),
    expect(local.open(sessionId)).rejects.toEqual(refused),
  ]);
  expect(local.followed).toBe(0);
});
