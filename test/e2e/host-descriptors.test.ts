import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLogFiles } from "#log/log-files.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { isAlive } from "#test/harness/processes.ts";
import { starve } from "#test/harness/starve.ts";

test.skipIf(process.platform !== "linux")(
  "a session that cannot be removed for want of descriptors is still there and can be removed later",
  async () => {
    await using host = await openTestHost();
    const { session_id } = await host.create({ command: "echo kept" });
    await host.output(session_id);
    // Its tree is known to be gone: only the files are left to remove.
    await host.client.call("session.close", { session_id });
    const call = { session_id, purge: true };
    await waitFor("the end of its output", async () => {
      const { state } = await host.client.call("session.get", { session_id });
      return state.kind === "exited" && state.final;
    });
    {
      using _starved = starve(host.pid);
      await expect(host.client.call("session.close", call)).rejects.toThrow();
    }
    expect(await host.client.call("session.get", { session_id })).toMatchObject({ session_id });
    await host.client.call("session.close", call);
    expect(existsSync(join(host.sessions, session_id))).toBe(false);
  },
);

/** Ignores the hang-up, has a child in a session of its own, and says the pids of both. */
const STUBBORN = "trap '' HUP; setsid sleep 600 & echo $$ $!; wait";

async function openStubborn(host: TestHost) {
  const { session_id } = await host.create({ kind: "command", command: STUBBORN });
  await waitFor("both pids", async () => {
    const { tail } = await host.client.call("session.get", { session_id });
    return tail > 0;
  });
  using source = openLogFiles(join(host.sessions, session_id, "output"));
  const said = source.read(0, { limit: 100, tail: source.tail() });
  const text = said?.kind === "bytes" ? Buffer.from(said.bytes).toString() : "";
  return { session_id, pids: text.trim().split(" ").map(Number) };
}

test.skipIf(process.platform !== "linux")(
  "a host without descriptors ends a session with all that it started, answers, and logs no flood",
  async () => {
    await using host = await openTestHost();
    const { session_id, pids } = await openStubborn(host);
    expect(pids.map(isAlive)).toEqual([true, true]);
    {
      using _starved = starve(host.pid);
      const { state } = await host.client.call("session.close", { session_id });
      expect(state).toMatchObject({ kind: "exited" });
      expect(state).not.toHaveProperty("survivors");
      expect(pids.map(isAlive)).toEqual([false, false]);
    }
    expect((await host.client.call("host.health", {})).errors).toBeLessThan(5);
  },
);

test.skipIf(process.platform !== "linux")(
  "a host without descriptors ends by SIGTERM, and everything with it",
  async () => {
    await using host = await openTestHost();
    const { pids } = await openStubborn(host);
    using _starved = starve(host.pid);
    await host.kill("SIGTERM");
    expect(pids.map(isAlive)).toEqual([false, false]);
  },
);
