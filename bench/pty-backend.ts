import { constants } from "node:os";
import { spawn as spawnNodePty } from "@lydell/node-pty";
import { systemClock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { openSpawner } from "#proc/platform/open-spawner.ts";

/** What the two ways to a PTY have in common, so that the same measurement runs on both. */
export interface PtyBackend extends Disposable {
  spawn(argv: readonly string[], listener: PtyListener): Pty;
}

export interface PtyListener {
  readonly output: (bytes: Uint8Array) => void;
  readonly exited: (ending: Ending) => void;
}

/** The signal's name, or else the code. */
export interface Ending {
  readonly code: number;
  readonly signal: string | null;
}

export interface Pty {
  readonly pid: number;
  write(bytes: Buffer): void;
}

export const backends: Readonly<Record<string, () => Promise<PtyBackend>>> = {
  /** Ours, without cgroups: the PTY alone. */
  koffi: () => openOurs({ cgroups: false }),
  /** Ours as the host uses it where cgroups can be made: a shell joins the cgroup, then becomes the program. */
  "koffi + cgroup": () => openOurs({ cgroups: true }),
  "node-pty": () => Promise.resolve(createNodePty()),
};

const size = { cols: 80, rows: 24 };

function childEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", TERM: "xterm-256color" };
}

async function openOurs({ cgroups }: { readonly cgroups: boolean }): Promise<PtyBackend> {
  const spawner = await openSpawner({
    clock: systemClock,
    isHost: true,
    cgroups,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  let serial = 0;
  return {
    spawn(argv, { output, exited }) {
      serial += 1;
      const session_id = `ses_bench${serial}`;
      const env = { ...childEnvironment(), REINS_SESSION_ID: session_id };
      const child = spawner.spawn(
        { session_id, argv, work_dir: "/", env, size, stdin: true },
        {
          output: (_channel, bytes) => output(bytes),
          exited: ({ exit_code, signal }) => exited({ code: exit_code, signal }),
          final: () => undefined,
        },
      );
      // On Linux a spawn is done when it returns.
      if (child instanceof Promise) throw new Error("a spawn that takes turns is not measured");
      return { pid: child.pid, write: (bytes) => writeInPieces(child, bytes) };
    },
    [Symbol.dispose]: () => spawner[Symbol.dispose](),
  };
}

/** The queue takes 4 MiB and then says that it is full, which the caller here does not wait for. */
function writeInPieces(child: { write(bytes: Uint8Array): void }, bytes: Buffer): void {
  try {
    child.write(bytes);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "queue_full") throw error;
  }
}

const signalNames = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

function createNodePty(): PtyBackend {
  return {
    spawn([program = "", ...args], { output, exited }) {
      // Bytes and not text: with an encoding, what is cut inside a character would be changed.
      const pty = spawnNodePty(program, args, {
        ...size,
        cwd: "/",
        env: childEnvironment(),
        encoding: null,
      });
      // Without an encoding it gives bytes, which its types do not say.
      pty.onData((bytes) => output(bytes as unknown as Uint8Array));
      pty.onExit(({ exitCode, signal }) =>
        exited({
          code: exitCode,
          signal: signal === undefined || signal === 0 ? null : (signalNames.get(signal) ?? "?"),
        }),
      );
      return { pid: pty.pid, write: (bytes) => pty.write(bytes as unknown as string) };
    },
    [Symbol.dispose]: () => undefined,
  };
}
