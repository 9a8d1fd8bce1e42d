import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { unusable } from "#host/data-dir.ts";
import { openTestSessions } from "#host/testing/open-test-sessions.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openOwnClient } from "./own-client.ts";

const readOnly = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });

function openReading(dataDir: string, fault: Fault, said: Fault[] = []) {
  const caller = createTestCaller();
  const connect = () => Promise.reject(fault);
  const onUnwritable = (why: Fault) => void said.push(why);
  const here = { dataDir, command: [], env: {}, caller, attaches: true };
  return openOwnClient({ ...here, host: "read", connect, onUnwritable });
}

test("sessions are listed and logs are read where no host can run because nothing can be written", async () => {
  using temp = openTempDir();
  const dataDir = temp.path;
  const folder = join(dataDir, "sessions");
  mkdirSync(folder);
  await using host = openTestSessions({ folder });
  const { session, child } = await host.open();
  child.print("still readable");
  const { session: ended, child: other } = await host.open({ kind: "command" });
  other.exit({ exit_code: 3, signal: null });
  other.finish();
  const said: Fault[] = [];
  const fault = unusable(dataDir, readOnly);
  await using client = await openReading(dataDir, fault, said);
  expect(said).toEqual([fault]);
  const { sessions } = await client.call("session.list", {});
  expect(sessions.map(({ session_id }) => session_id).toSorted()).toEqual(
    [session.id, ended.id].toSorted(),
  );
  expect(await client.call("session.get", { session_id: ended.id })).toMatchObject({
    state: { kind: "exited", exit_code: 3 },
  });
  const lost = await client.call("session.get", { session_id: session.id });
  expect(lost.state.kind).toBe("lost");
  const { bytes } = await client.output({ session_id: session.id });
  expect(String(bytes)).toBe("still readable");
  const printed: string[] = [];
  for await (const event of client.attach(session.id, { reads: "final" }))
    if (event.type === "output") printed.push(Buffer.from(event.bytes).toString());
  expect(printed).toEqual(["still readable"]);
  await expect(
    client.call("session.input", { session_id: session.id, data: "x" }),
  ).rejects.toMatchObject({ code: "host_unavailable" });
});

test("another reason for which no host can be had is passed on", async () => {
  const fault = new Fault("host_unavailable", "it is stopped", { details: { errno: "ETIMEDOUT" } });
  await expect(openReading("/nowhere", fault)).rejects.toBe(fault);
});

test("without a host, a client that starts none lists no session and leaves no host behind", async () => {
  using temp = openTempDir();
  const caller = createTestCaller();
  const here = { dataDir: temp.path, command: [], env: {}, caller };
  await using client = await openOwnClient({ ...here, host: "join" });
  expect(await client.call("session.list", {})).toEqual({ sessions: [], cursor: null });
});
