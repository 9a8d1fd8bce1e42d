import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import {
  findHostOf,
  type OwnReins,
  openOwnReins,
  type Reins,
  succeed,
  waitForNothing,
} from "./reins.ts";

/** More than any test has. */
const LISTED_SESSIONS = 1000;

export interface KeptReins {
  /** One that no other test has. After the scope it is as new, and the next test gets it. */
  lease(): Promise<Reins>;
}

interface Kept {
  readonly reins: OwnReins;
  readonly host: number | undefined;
  /** The files of a new data directory. */
  readonly files: readonly string[];
}

/**
 * One host and one resident for the tests of a file that make no claim about the life of a host. Between two tests all
 * sessions are closed and purged, and all other files are removed. Call it at the top of the file.
 */
export function keepReins(): KeptReins {
  const free: Kept[] = [];
  afterAll(async () => {
    for (const { reins } of free.splice(0)) await reins[Symbol.asyncDispose]();
  });
  return {
    lease: async () => {
      const kept = free.pop() ?? (await openKept());
      const giveBack = async () => {
        await using stack = new AsyncDisposableStack();
        stack.use(kept.reins);
        if (!(await clean(kept))) return;
        stack.move();
        free.push(kept);
      };
      return { ...kept.reins, [Symbol.asyncDispose]: giveBack };
    },
  };
}

async function openKept(): Promise<Kept> {
  await using stack = new AsyncDisposableStack();
  const reins = stack.use(await openOwnReins());
  succeed(await reins.run(["ps", "-a"]));
  const kept = { reins, host: await reins.hostPid(), files: readdirSync(reins.home) };
  stack.move();
  return kept;
}

/** False when the test has ended the host: then there is nothing to keep. */
async function clean({ reins, host, files }: Kept): Promise<boolean> {
  const { path, home } = reins;
  using client = await findHostOf(home);
  if (client === undefined || client.hello.pid !== host) return false;
  const { sessions } = await client.call("session.list", { limit: LISTED_SESSIONS });
  await Promise.all(
    sessions.map(({ session_id }) => client.call("session.close", { session_id, purge: true })),
  );
  await waitForNothing(path, [host, ...reins.residents()]);
  removeBut(home, files);
  removeBut(join(home, "sessions"), []);
  removeBut(path, ["bin", "user", "home"]);
  removeBut(join(path, "user"), []);
  return true;
}

function removeBut(folder: string, kept: readonly string[]): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (!kept.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
}
