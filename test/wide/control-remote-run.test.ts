import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "#contract/faults.ts";
import { limits } from "#contract/limits.ts";
import { SLOW_MS } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";

const { lease } = keepReins();

async function openServer(reins: Reins, port = 0) {
  // The host of this directory, and not one of the server's own environment.
  succeed(await reins.run(["ps", "-a"]));
  return await openGatewayProcess({ dataDir: reins.home, port });
}

test("who leaves a command that does not read has left, whatever was still to be typed", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  const at = ["run", "--remote", server.door.url, "--cwd", reins.path];
  const left = reins.start([...at, "--", "sh", "-c", "echo on; exec sleep 600"], { input: "pipe" });
  await left.says("on\n");
  left.child.stdin?.write(Buffer.alloc(3 * limits.input_queue_bytes));
  await waitFor("its queue is full", async () => {
    // As much as is read from a pipe at once.
    const { code } = await reins.run(["send", "x".repeat(64 * 1024)]);
    return code === faults.queue_full.exit;
  });
  left.child.kill("SIGTERM");
  expect(await left.ended).toMatchObject({ code: 143, stderr: expect.stringContaining("goes on") });
});

test("Ctrl-C while the server is away is heard when it is back; a second one leaves", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using first = await openServer(reins);
  const at = ["run", "--remote", first.door.url, "--cwd", reins.path];
  const start = () => reins.start([...at, "--", "sh", "-c", "echo on; exec sleep 600"]);
  const [kept, left] = [start(), start()];
  await Promise.all([kept.says("on\n"), left.says("on\n")]);
  await first.kill("SIGKILL");
  for (const each of [kept, left]) each.child.kill("SIGINT");
  await waitFor("both know that it is away", () =>
    [kept, left].every((each) => each.stderr().includes("once more leaves")),
  );
  left.child.kill("SIGINT");
  expect(await left.ended).toMatchObject({ code: 130, stderr: expect.stringContaining("goes on") });
  await using _second = await openServer(reins, first.port);
  expect(await kept.ended).toMatchObject({ code: 130 });
  const states = (await reins.sessions()).map(({ state }) => state.kind);
  expect(states.toSorted()).toEqual(["exited", "running"]);
});

test("logs -f over a server goes on until the exit, through the server's end", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using first = await openServer(reins);
  const { url } = first.door;
  const script = "echo one; until [ -e go ]; do sleep 0.1; done; echo two >&2; exit 4";
  const id = succeed(
    await reins.run([
      ...["run", "-d", "--remote", url, "--cwd", reins.path],
      ...["--", "sh", "-c", script],
    ]),
  ).trim();
  const lines = (count: string) => reins.run(["logs", "--tail", count, "--remote", url, id]);
  await waitFor("it has begun", async () => succeed(await lines("2")) === "one\n");
  expect(succeed(await lines("0"))).toBe("");
  const following = reins.start(["logs", "-f", "--remote", url, id]);
  const frames = reins.start(["logs", "-f", "--json", "--since", "tail", "--remote", url, id]);
  await following.says("one\n");
  await waitFor(
    "both follow",
    async () => {
      const { viewers } = await first.door.get("session.get", { session_id: id });
      return viewers === 2;
    },
    { timeout: SLOW_MS },
  );
  // What is there and no more, while it runs.
  await waitFor("it is printed", async () =>
    succeed(await reins.run(["logs", "--remote", url, id])).includes("one\n"),
  );
  await first.kill("SIGKILL");
  writeFileSync(join(reins.path, "go"), "");
  await using _second = await openServer(reins, first.port);
  expect(await following.ended).toMatchObject({ code: 0, stdout: "one\n", stderr: "two\n" });
  const printed = (await frames.ended).stdout.trimEnd().split("\n");
  expect(printed.map((line) => JSON.parse(line)).slice(-2)).toEqual([
    { type: "stderr", offset: 4, data: "two\n", encoding: "utf8" },
    { type: "exit", exit_code: 4, signal: null, reason: "exited", tail: 8 },
  ]);
});
