import { expect, test } from "vitest";
import { SessionId, WorkspaceId } from "#contract/ids.ts";
import { anyPlaces, createTestCaller } from "#test/harness/caller.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { createGlanceOperations } from "./glances.ts";
import { createSessionOperations } from "./session.ts";

const leaseHost = leaseForFile(() => openTestHost());

const nobody = SessionId.parse("ses_0000000000000000");

function openGlances({ hosts }: TestHost, caller = createTestCaller()) {
  const make = createSessionOperations({ hosts, places: anyPlaces }, caller)["session.create"];
  return { make, glance: createGlanceOperations({ hosts }, caller)["session.glances"] };
}

test("each session that is seen has its last line, in the order of the question", async () => {
  await using host = await leaseHost();
  const { make, glance } = openGlances(host);
  const print = async (text: string) =>
    (await make({ kind: "command", argv: ["printf", text] })).session_id;
  const [first, second] = [await print("one\\ntwo\\n"), await print("three")];
  const ids = [second, nobody, first, second];
  const glances = await waitFor("both lines", async () => {
    const found = (await glance({ session_ids: ids })).glances;
    return found.every(({ line }) => line !== "") ? found : undefined;
  });
  expect(glances).toEqual([
    {
      ...{ session_id: second, line: "three", tail: 5, needs_answer: false },
      last_io_at: expect.stringMatching(/Z$/),
    },
    {
      ...{ session_id: first, line: "two", tail: 8, needs_answer: false },
      last_io_at: expect.stringMatching(/Z$/),
    },
  ]);
});

test("a session of a workspace that the caller does not see is left out like one that is not there", async () => {
  await using host = await leaseHost();
  const { session_id } = await openGlances(host).make({ kind: "command", argv: ["echo", "hello"] });
  const workspaces = [WorkspaceId.parse("wsp_aaaaaaaaaaaaaaaa")];
  const { glance } = openGlances(host, createTestCaller({ workspaces }));
  expect(await glance({ session_ids: [session_id, nobody] })).toEqual({ glances: [] });
});

test("of a session without a host nothing is known", async () => {
  await using host = await leaseHost();
  const { glance } = openGlances(host);
  expect(await glance({ session_ids: [nobody] })).toEqual({ glances: [] });
});
