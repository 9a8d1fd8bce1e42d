import { readMemory } from "#bench/lib/process-facts.ts";
import { openTempHost, reinsPath } from "#bench/lib/temp-host.ts";
import { openTerminalClient, type TerminalClient } from "./terminal-client.ts";

/** Something that keeps terminals: Reins and those who do the same. */
export interface Peer extends AsyncDisposable {
  readonly name: string;
  readonly version: string;
  /** A terminal with that program, and a client that sits in front of it; both end with the client. */
  attach(argv: readonly string[]): Promise<TerminalClient>;
  /** A terminal that nobody looks at. */
  openIdle(argv: readonly string[]): Promise<void>;
  endIdle(): Promise<void>;
  /** KiB of what keeps the terminals, without the programs in them. */
  memory(): number;
}

export async function openReins(): Promise<Peer> {
  const host = await openTempHost();
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  const env = {
    PATH,
    HOME: "/",
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    REINS_HOME: host.dir.path,
  };
  const close = (session_id: string) =>
    host.client.call("session.close", { session_id, purge: true });
  const idle: string[] = [];
  return {
    name: "reins",
    version: "",
    attach: async (argv) => {
      const { session_id } = await host.create({ kind: "terminal", argv: [...argv] });
      const program = [process.execPath, reinsPath, "attach", "--since", "0", session_id];
      const client = openTerminalClient({ argv: program, env });
      return {
        ...client,
        [Symbol.asyncDispose]: async () => {
          await client[Symbol.asyncDispose]();
          await close(session_id);
        },
      };
    },
    openIdle: async (argv) => {
      idle.push((await host.create({ kind: "terminal", argv: [...argv] })).session_id);
    },
    endIdle: async () => {
      for (const session_id of idle.splice(0)) await close(session_id);
    },
    memory: () => readMemory(host.pid).own_kib,
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}
