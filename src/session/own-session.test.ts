import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { lines } from "#log/lines.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { type OwnSession, openOwnSession } from "./own-session.ts";

const leaseHost = leaseForFile(() => openTestHost());

const LINES = 5000;
const worker = `n=0; while [ $n -lt ${LINES} ]; do printf '{"type":"said","n":%d}\\n' $n; n=$((n+1)); done`;

async function openAgent(host: TestHost): Promise<string> {
  const { session_id } = await host.create({ kind: "agent", argv: ["/bin/bash", "-c", worker] });
  await waitFor("it has said everything", async () => {
    const { state } = await host.client.call("session.get", { session_id });
    return state.kind === "exited";
  });
  return session_id;
}

/** The data directory as a sandbox shows it: the socket, and the folder of one session's secret. */
function hide(dataDir: string, shown: string, sessionId: string): void {
  mkdirSync(join(shown, "secrets"));
  symlinkSync(locateDataDir(dataDir).socket, locateDataDir(shown).socket);
  symlinkSync(join(dataDir, "secrets", sessionId), join(shown, "secrets", sessionId));
}

async function readNumbers({ readEvents }: OwnSession): Promise<unknown[]> {
  const numbers: unknown[] = [];
  for await (const line of lines(readEvents()))
    if (line.kind === "line" && line.value.type === "said") numbers.push(line.value.n);
  return numbers;
}

test("a worker reads its history and keeps its blobs over its session's connection, without the files", async () => {
  await using host = await leaseHost();
  const session_id = await openAgent(host);
  using shown = openTempDir();
  hide(host.dataDir, shown.path, session_id);
  const env = { REINS_BOUND_SESSION_ID: session_id };
  const own = await openOwnSession({ dataDir: shown.path, session_id, env });
  expect(await readNumbers(own)).toEqual(Array.from({ length: LINES }, (_, n) => n));
  const image = Buffer.from("an image");
  const name = own.keepBlob(image);
  expect(await own.findBlob(name)).toEqual(image);
  expect(own.kept).toBe(undefined);
  expect(await own.findBlob("0".repeat(64))).toBe(undefined);
  expect(readdirSync(join(host.sessions, session_id, "blobs"))).toEqual([name]);
  expect(readdirSync(shown.path).toSorted()).toEqual(["host.sock", "secrets"]);
});

test("a worker whose connection is not its session's reads the files", async () => {
  await using host = await leaseHost();
  const session_id = await openAgent(host);
  const own = await openOwnSession({ dataDir: host.dataDir, session_id, env: {} });
  expect(await readNumbers(own)).toHaveLength(LINES);
  const name = own.keepBlob(Buffer.from("another"));
  expect(own.kept).toBe(undefined);
  expect(String(await own.findBlob(name))).toBe("another");
});

test("a blob that cannot be kept is reported by those who wait for it", async () => {
  await using host = await leaseHost();
  const session_id = await openAgent(host);
  const env = { REINS_BOUND_SESSION_ID: session_id };
  const own = await openOwnSession({ dataDir: host.dataDir, session_id, env });
  own.keepBlob(Buffer.alloc(1024 * 1024));
  await expect(own.kept).rejects.toMatchObject({ code: "invalid_request" });
});
