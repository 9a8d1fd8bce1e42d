import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { runWorker } from "./agent.ts";

/** A worker that nobody has told anything yet. */
function startWorker(dataDir: string, signal: AbortSignal) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const clock = new ManualClock();
  const ended = runWorker({
    ...{ stdin, stdout, stderr, dataDir, signal, clock },
    session_id: "ses_0123456789abcdef",
    version: "0.0.0",
    command: ["reins"],
    env: {},
    umask: 0o077,
    parkAfterMs: 1000,
  });
  return { stdin, stdout, stderr, clock, ended };
}

test("a worker that was closed before it could begin ends", async () => {
  using dir = openTempDir();
  const { ended } = startWorker(dir.path, AbortSignal.abort());
  expect(await ended).toBe(0);
});

test("a worker whose first line says nothing ends after a while, as one that is alone", async () => {
  using dir = openTempDir();
  const { stdin, stdout, clock, ended } = startWorker(dir.path, new AbortController().signal);
  stdin.write('{"id":"1","type":"toolsets"}\n');
  await waitFor("it is refused", () => String(stdout.read() ?? "").includes("must be init"));
  clock.advance(limits.agent_reply_ms);
  expect(await ended).toBe(1);
});

test("a worker whose stdin breaks says why and ends as one that is alone", async () => {
  using dir = openTempDir();
  const { stdin, stderr, ended } = startWorker(dir.path, new AbortController().signal);
  stdin.destroy(new Error("it broke"));
  expect(await ended).toBe(1);
  expect(String(stderr.read())).toContain("it broke");
});
