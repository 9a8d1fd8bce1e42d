import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "./eventually.ts";
import type { Reins } from "./reins.ts";

/** A busy machine takes its time; nothing waits longer than it has to. */
const WAIT_MS = 30_000;
/** Without new output a screen still changes by a resize, so it is looked at now and then. */
const LOOK_MS = 250;
const SIZE = { cols: 100, rows: 30 };

/** A terminal emulator with panes that a test types into and looks at. Its own server, ended with the scope. */
export interface Tmux extends Disposable {
  /** A window with a plain shell, whose prompt is `out$ `, in the test's own directory. */
  open(): Promise<Pane>;
}

export interface Pane {
  /** Keys by tmux's names: `Enter`, `C-c`, `C-\\`. */
  press(...keys: readonly string[]): void;
  /** Text as it is, without an Enter. */
  type(text: string): void;
  /** A line and Enter. */
  enter(line: string): void;
  /** What is seen now. */
  screen(): string;
  /** The same with the sequences that make its colours. */
  styled(): string;
  /** Waits until the screen shows it. */
  shows(text: string | RegExp): Promise<string>;
  /** Waits until the last line that is not empty ends with it: a prompt that waits. */
  prompts(text: string): Promise<string>;
  /** A format of tmux about the pane, such as `#{alternate_on}`. */
  ask(format: string): string;
  /** The pid of the program that the shell waits for. */
  foreground(): number;
  resize(cols: number, rows: number): void;
  /** Text from a clipboard. */
  paste(text: string): void;
  /** As when somebody closes the window. */
  close(): void;
}

export function openTmux(reins: Reins): Tmux {
  const socket = join(reins.path, "tmux.sock");
  const tmux = (args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { ...reins.env, PS1: "out$ ", ENV: "", SHELL: "/bin/sh" },
      cwd: reins.path,
      stdio: ["ignore", "pipe", "pipe"],
    }).trimEnd();
  // Keeps the server alive whatever the windows of the test do.
  tmux(["new-session", "-d", "-x", `${SIZE.cols}`, "-y", `${SIZE.rows}`, "cat"]);
  const pid = Number(tmux(["display", "-p", "#{pid}"]));
  return {
    open: async () => {
      // Otherwise tmux's own shell would stand between.
      const id = tmux(["new-window", "-d", "-P", "-F", "#{pane_id}", "exec sh"]);
      const printed = join(reins.path, `tmux.pane${id}`);
      tmux(["pipe-pane", "-t", id, `exec cat >'${printed}'`]);
      const pane = createPane(tmux, { id, printed });
      await pane.prompts("out$");
      return pane;
    },
    [Symbol.dispose]: () => {
      if (pid > 0) tmux(["kill-server"]);
    },
  };
}

interface Place {
  readonly id: string;
  /** The file that grows with what the pane prints. */
  readonly printed: string;
}

function createPane(tmux: (args: readonly string[]) => string, { id, printed }: Place): Pane {
  const press: Pane["press"] = (...keys) => void tmux(["send-keys", "-t", id, ...keys]);
  const type: Pane["type"] = (text) => void tmux(["send-keys", "-t", id, "-l", "--", text]);
  const ask: Pane["ask"] = (format) => tmux(["display", "-p", "-t", id, format]);
  const screen = () => tmux(["capture-pane", "-p", "-t", id]);
  const wait = async (what: string, isThere: (text: string) => boolean) => {
    // To ask tmux takes a process each time, to ask the file does not.
    let seen = { size: -1, at: 0 };
    const look = () => {
      const now = { size: sizeOf(printed), at: performance.now() };
      if (now.size === seen.size && now.at - seen.at < LOOK_MS) return false;
      seen = now;
      const text = screen();
      return isThere(text) && text;
    };
    try {
      return await waitFor(what, look, { timeout: WAIT_MS });
    } catch (error) {
      throw new Error(`${what}; it shows:\n${screen()}`, { cause: error });
    }
  };
  return {
    press,
    type,
    enter: (line) => {
      type(line);
      press("Enter");
    },
    screen,
    styled: () => tmux(["capture-pane", "-p", "-e", "-t", id]),
    shows: (text) =>
      wait(`the screen shows ${text}`, (seen) =>
        typeof text === "string" ? seen.includes(text) : text.test(seen),
      ),
    prompts: (text) => wait(`the screen ends with ${text}`, (seen) => seen.endsWith(text)),
    ask,
    foreground: () => findChild(ask("#{pane_pid}")),
    resize: (cols, rows) =>
      void tmux(["resize-window", "-t", id, "-x", String(cols), "-y", String(rows)]),
    paste: (text) => {
      tmux(["set-buffer", "--", text]);
      tmux(["paste-buffer", "-p", "-t", id]);
    },
    close: () => void tmux(["kill-window", "-t", id]),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function findChild(parent: string): number {
  const all = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).split("\n");
  const child = all.map((line) => line.trim().split(/\s+/)).find(([, ppid]) => ppid === parent);
  return Number(child?.[0]);
}
