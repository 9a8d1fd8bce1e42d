import { readFileSync } from "node:fs";
import { type IPty, spawn } from "@lydell/node-pty";
import headless, { type Terminal } from "@xterm/headless";
import { type KeyName, sequenceOf } from "./terminal-keys.ts";

/** A busy machine takes its time; nothing waits longer than it has to. */
const WAIT_MS = 30_000;
const SIZE = { cols: 100, rows: 30 };

/** Modes that a program can leave behind in a terminal. */
export interface ScreenModes {
  readonly alternate: boolean;
  readonly mouse: boolean;
  readonly mouse_sgr: boolean;
  readonly cursor: boolean;
  readonly keypad: boolean;
  readonly bracketed_paste: boolean;
}

/** A terminal emulator of our own with a program on a real PTY. The screen is looked at when output arrives. */
export interface Pane {
  /** Keys by their names: `Enter`, `C-c`, `Escape`; or a character. */
  press(...keys: readonly KeyName[]): void;
  /** Text as it is, without an Enter. */
  type(text: string): void;
  /** A line and Enter. */
  enter(line: string): void;
  /** Text from a clipboard, with the marks of bracketed paste if the program asked for them. */
  paste(text: string): void;
  /** The visible lines without blanks at their ends. */
  screen(): string;
  /** Whether any visible cell has a color of its own. */
  hasColor(): boolean;
  modes(): ScreenModes;
  title(): string;
  /** Waits until the screen shows it, and answers the screen. */
  shows(text: string | RegExp): Promise<string>;
  /** Waits until the screen is exactly this. */
  becomes(screen: string): Promise<void>;
  /** Waits until the last line that is not empty ends with it, by output newer than the last key. */
  prompts(text: string): Promise<string>;
  /** The pid of the program that the shell waits for. */
  foreground(): number;
  resize(cols: number, rows: number): void;
  /** Closes the terminal as a window manager does: the kernel hangs up its programs. */
  close(): void;
}

export interface Terminals extends Disposable {
  /** A plain shell, whose prompt is `out$ `, in the test's own directory. */
  open(): Promise<Pane>;
}

export interface TerminalSetting {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
}

export function openTerminals({ path, env }: TerminalSetting): Terminals {
  const open = new Set<Pane>();
  return {
    open: async () => {
      const pane = openPane({ ...env, PS1: "out$ ", ENV: "", SHELL: "/bin/sh" }, path);
      open.add(pane);
      await pane.prompts("out$");
      return pane;
    },
    [Symbol.dispose]: () => {
      for (const pane of open) pane.close();
    },
  };
}

function openPane(env: NodeJS.ProcessEnv, cwd: string): Pane {
  const pty = spawn("sh", [], { ...SIZE, name: "xterm-256color", env, cwd, encoding: null });
  const screen = new Screen((text) => pty.write(text));
  // Without an encoding it gives bytes, which its types do not say.
  pty.onData((bytes: string | Buffer) => screen.print(Buffer.from(bytes)));
  const type: Pane["type"] = (text) => {
    screen.markInput();
    pty.write(text);
  };
  const press: Pane["press"] = (...keys) =>
    type(keys.map((key) => sequenceOf(key, screen.hasCursorKeys())).join(""));
  return {
    press,
    type,
    enter: (line) => {
      type(line);
      press("Enter");
    },
    paste: (text) => type(screen.modes().bracketed_paste ? `\x1b[200~${text}\x1b[201~` : text),
    screen: () => screen.text(),
    hasColor: () => screen.hasColor(),
    modes: () => screen.modes(),
    title: () => screen.title,
    shows: (text) =>
      screen.wait(`the screen shows ${text}`, (seen) =>
        typeof text === "string" ? seen.includes(text) : text.test(seen),
      ),
    becomes: async (text) =>
      void (await screen.wait(`the screen becomes\n${text}\n`, (seen) => seen === text)),
    prompts: (text) =>
      screen.wait(
        `the screen ends with ${text}`,
        (seen, isAnswered) => isAnswered && seen.endsWith(text),
      ),
    foreground: () => findChild(pty.pid),
    resize: (cols, rows) => {
      screen.resize(cols, rows);
      pty.resize(cols, rows);
    },
    close: () => hangUp(pty),
  };
}

type Condition = (seen: string, isAnswered: boolean) => boolean;

/** The emulator: what was printed, and the callers that wait for something to be seen. */
class Screen {
  readonly #terminal: Terminal = new headless.Terminal({ ...SIZE, allowProposedApi: true });
  readonly #looks = new Set<() => void>();
  /** Private modes that its interface does not name. */
  readonly #private = new Map([
    [CURSOR_MODE, true],
    [SGR_MOUSE_MODE, false],
  ]);
  #isAnswered = true;
  title = "";

  constructor(answer: (text: string) => void) {
    const terminal = this.#terminal;
    terminal.onData(answer);
    terminal.onTitleChange((title) => {
      this.title = title;
    });
    for (const [final, isSet] of [
      ["h", true],
      ["l", false],
    ] as const)
      terminal.parser.registerCsiHandler({ prefix: "?", final }, (params) => {
        for (const param of params.flat()) this.#private.set(param, isSet);
        // The emulator handles it too.
        return false;
      });
  }

  print(bytes: Uint8Array): void {
    this.#terminal.write(bytes, () => {
      this.#isAnswered = true;
      this.#look();
    });
  }

  markInput(): void {
    this.#isAnswered = false;
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
    this.#look();
  }

  text(): string {
    const { buffer, rows } = this.#terminal;
    const { active } = buffer;
    const lines = Array.from({ length: rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? "").trimEnd(),
    );
    return lines.join("\n").trimEnd();
  }

  hasColor(): boolean {
    const { buffer, rows, cols } = this.#terminal;
    const { active } = buffer;
    for (let row = 0; row < rows; row += 1) {
      const line = active.getLine(active.baseY + row);
      for (let col = 0; col < cols; col += 1) {
        const cell = line?.getCell(col);
        if (cell !== undefined && !(cell.isFgDefault() && cell.isBgDefault())) return true;
      }
    }
    return false;
  }

  hasCursorKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode;
  }

  modes(): ScreenModes {
    const { modes, buffer } = this.#terminal;
    return {
      alternate: buffer.active.type === "alternate",
      mouse: modes.mouseTrackingMode !== "none",
      mouse_sgr: this.#private.get(SGR_MOUSE_MODE) === true,
      cursor: this.#private.get(CURSOR_MODE) === true,
      keypad: modes.applicationKeypadMode,
      bracketed_paste: modes.bracketedPasteMode,
    };
  }

  async wait(what: string, isThere: Condition): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = () => {
      const seen = this.text();
      if (isThere(seen, this.#isAnswered)) resolve(seen);
    };
    const limit = setTimeout(
      () => reject(new Error(`not within ${WAIT_MS} ms: ${what}; it shows:\n${this.text()}`)),
      WAIT_MS,
    );
    this.#looks.add(look);
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
      this.#looks.delete(look);
    }
  }

  #look(): void {
    for (const look of this.#looks) look();
  }
}

const CURSOR_MODE = 25;
const SGR_MOUSE_MODE = 1006;

function findChild(parent: number): number {
  const [child = ""] = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").split(" ");
  if (child === "") throw new Error("the shell waits for no program");
  return Number(child);
}

/** Closes our end of the PTY, which its types do not offer. */
function hangUp(pty: IPty): void {
  (pty as IPty & { destroy(): void }).destroy();
}
