import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "#base/manual-clock.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { scripted } from "#test/harness/runtimes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { FIRST_REQUEST_MS, runWorker } from "./agent.ts";

const PARK_AFTER_MS = 1000;

const specIn = (folder: string) => ({
  ...{ yaml: scripted([{ text: "Yes.", repeat: true }]), name: "t", agent: "root" },
  ...{ base_dir: folder, work_dir: folder },
});

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
    parkAfterMs: PARK_AFTER_MS,
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

test("a worker parks when it has nothing to do, but not before its first request came or ought to have come", async () => {
  for (const isAsked of [true, false]) {
    using dir = openTempDir();
    const { stdin, stdout, clock, ended } = startWorker(dir.path, new AbortController().signal);
    const ask = async (id: string, request: object) => {
      stdin.write(`${JSON.stringify({ id, ...request })}\n`);
      await waitFor("the answer", () => String(stdout.read() ?? "").includes(`"id":"${id}"`));
    };
    await ask("init_1", { type: "init", keys: {}, spec: specIn(dir.path) });
    clock.advance(PARK_AFTER_MS);
    if (isAsked) await ask("req_1", { type: "toolsets" });
    clock.advance(isAsked ? PARK_AFTER_MS : FIRST_REQUEST_MS);
    expect(await ended).toBe(0);
  }
});
