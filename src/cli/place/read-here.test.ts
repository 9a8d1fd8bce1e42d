import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { followOutput } from "#app/follow-output.ts";
import { Fault } from "#contract/fault.ts";
import { unusable } from "#host/data-dir.ts";
import { openTestSessions } from "#host/testing/open-test-sessions.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openReading } from "./read-here.ts";
import { findTarget, listSessions } from "./target.ts";

const readOnly = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });

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
  using here = await openReading(dataDir, () => Promise.reject(unusable(dataDir, readOnly)));
  const listed = await Array.fromAsync(listSessions(here.place, {}));
  expect(listed.map(({ session_id }) => session_id).toSorted()).toEqual(
    [session.id, ended.id].toSorted(),
  );
  expect(await here.place.call("session.get", { session_id: ended.id })).toMatchObject({
    state: { kind: "exited", exit_code: 3 },
  });
  const { session_id, state } = await findTarget(here.place, session.id.slice(4));
  expect([session_id, state.kind]).toEqual([session.id, "lost"]);
  using handle = await here.open(session_id);
  const chunks = await Array.fromAsync(followOutput(handle, { since: 0, until: "final" }));
  expect(chunks.map((chunk) => chunk.kind === "bytes" && String(chunk.bytes))).toEqual([
    "still readable",
  ]);
});

test("another reason for which no host can be had is passed on", async () => {
  const fault = new Fault("host_unavailable", "it is stopped", { details: { errno: "ETIMEDOUT" } });
  await expect(openReading("/nowhere", () => Promise.reject(fault))).rejects.toBe(fault);
});
