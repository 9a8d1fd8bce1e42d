import { writeSync } from "node:fs";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { IPty } from "@lydell/node-pty";
import type { Clock } from "#base/clock.ts";
import { isErrno } from "#base/errno.ts";
import type { ChildSpec, ExitStatus, TerminalSize } from "#proc/child.ts";
import { InputQueue, type WriteResult } from "#proc/input-queue.ts";
import type { Wiring } from "#proc/process-child.ts";
import { findForegroundGroup } from "#proc/ps.ts";
import { withUmask } from "#proc/umask.ts";

export type NodePty = Pick<typeof import("@lydell/node-pty"), "spawn">;

/** What its terminals have on Unix besides what its types tell; the dependency is pinned to one version. */
interface UnixTerminal extends IPty {
  readonly fd: number;
  readonly _socket: Socket;
}

export interface StartedProcess {
  readonly pid: number;
  readonly wiring: Wiring;
  readonly onExit: (listener: (status: ExitStatus) => void) => void;
}

const END_OF_FILE = Uint8Array.of(4);

/**
 * A PTY by node-pty, with its limits: 200 ms after the exit it closes the terminal, so what a grandchild prints
 * later, or what was not read because of a pause, is lost; and the exit waits that long for such a grandchild.
 */
export function startTerminal(
  { pty, clock }: { readonly pty: NodePty; readonly clock: Clock },
  spec: ChildSpec & { readonly size: TerminalSize },
  program: string,
): StartedProcess {
  const { TERM = "dumb" } = spec.env;
  const terminal = withUmask(spec.umask, () =>
    pty.spawn(program, spec.argv.slice(1), {
      name: TERM,
      cols: spec.size.cols,
      rows: spec.size.rows,
      cwd: spec.work_dir,
      env: { ...spec.env },
      encoding: null,
    }),
  ) as UnixTerminal;
  const socket = terminal._socket;
  const input = new InputQueue({
    clock,
    write: (bytes) => (socket.destroyed ? "gone" : writeNow(terminal.fd, bytes)),
    end: () => undefined,
  });
  const wiring: Wiring = {
    input,
    // Typed as text, but bytes with this encoding.
    start: ({ onBytes }) =>
      void terminal.onData((data) => onBytes("stdout", data as unknown as Buffer)),
    pause: () => terminal.pause(),
    resume: () => terminal.resume(),
    drain: () => undefined,
    // The exit comes when the terminal is closed, so there is nothing to wait for.
    isEnded: () => true,
    endInput: () => input.push(END_OF_FILE),
    resize({ cols, rows }) {
      if (!socket.destroyed) terminal.resize(cols, rows);
    },
    foregroundGroup: () => findForegroundGroup(terminal.pid),
    exited: () => undefined,
    [Symbol.dispose]() {
      input[Symbol.dispose]();
      socket.destroy();
    },
  };
  const onExit = (listener: (status: ExitStatus) => void) =>
    void terminal.onExit(({ exitCode, signal }) => listener(describeExit(exitCode, signal)));
  return { pid: terminal.pid, wiring, onExit };
}

function describeExit(code: number, number = 0): ExitStatus {
  if (number === 0) return { exit_code: code, signal: null };
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return { exit_code: 128 + number, signal: name ?? `SIG${number}` };
}

/** Not by the stream: that would block the event loop until the program reads. */
function writeNow(fd: number, bytes: Uint8Array): WriteResult {
  try {
    return writeSync(fd, bytes) || "full";
  } catch (error) {
    return isErrno(error, "EAGAIN", "EINTR") ? "full" : "gone";
  }
}
