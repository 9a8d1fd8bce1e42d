import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestHost } from "#test/harness/host.ts";

/** From now on the process can open nothing more; what is open stays open. */
function starve(pid: number): Disposable {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let free = 0;
  while (open.has(free)) free += 1;
  const limit = (count: string) => spawnSync("prlimit", [`--pid=${pid}`, `--nofile=${count}:`]);
  const shown = spawnSync("prlimit", [`--pid=${pid}`, "--nofile", "--output=SOFT", "--noheadings"]);
  limit(String(free));
  return { [Symbol.dispose]: () => void limit(String(shown.stdout).trim()) };
}

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
