import { expect, test } from "vitest";
import { createTestCaller } from "#test/harness/caller.ts";
import { openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";
import { openVisible } from "./visible-session.ts";

const UNKNOWN = "ses_0000000000000000";
const stranger = createTestCaller({ workspaces: ["wsp_other" as never] });
const member = createTestCaller({ workspaces: ["wsp_local" as never] });

test("a foreign session is refused by the same questions as an unknown one, open or not", async () => {
  using session = openWrittenSession();
  const ask = async (sessionId: string) => {
    session.asked.length = 0;
    const refused = expect.objectContaining({ code: "session_not_found" });
    await expect(openVisible(session.hosts, stranger, sessionId)).rejects.toEqual(refused);
    return [...session.asked];
  };
  const unknown = await ask(UNKNOWN);
  expect(unknown).toEqual(["session.get"]);
  expect(await ask(WRITTEN_SESSION)).toEqual(unknown);
  using _open = await openVisible(session.hosts, member, WRITTEN_SESSION);
  expect(await ask(WRITTEN_SESSION)).toEqual(unknown);
  expect(session.hosts.all()[0].followed).toBe(1);
  // A host that finds something answers faster: once it is known to be foreign, it is not asked for.
  expect(session.sought).toEqual([UNKNOWN, WRITTEN_SESSION, WRITTEN_SESSION, UNKNOWN]);
});

test("a session that is open is read again without a question to the host", async () => {
  using session = openWrittenSession();
  using _first = await openVisible(session.hosts, member, WRITTEN_SESSION);
  session.asked.length = 0;
  using _second = await openVisible(session.hosts, member, WRITTEN_SESSION);
  expect(session.asked).toEqual([]);
});
