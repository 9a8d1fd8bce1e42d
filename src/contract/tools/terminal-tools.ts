import * as z from "zod";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { Session, SystemText } from "#contract/session.ts";
import { SessionState } from "#contract/session-state.ts";
import { ToolDuration } from "./duration.ts";
import { ToolEnvironment } from "./process.ts";
import { acts, ends, reads, type ToolSpec } from "./tool-spec.ts";

const TerminalId = SessionId.describe("The id that terminal_open gave.");
const wait = (text: string) => ToolDuration.optional().describe(text);

/** Keys by name, as they are printed on them. */
export const keyNames = [
  ...["enter", "tab", "shift+tab", "escape", "space", "backspace", "delete", "insert"],
  ...["up", "down", "left", "right", "home", "end", "pageup", "pagedown"],
  ...["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"],
] as const;

export const TerminalView = z.strictObject({
  terminal_id: SessionId,
  /** What stands on the screen, without trailing blanks. */
  screen: z.string(),
  cursor: z.strictObject({ row: z.int(), col: z.int(), visible: z.boolean() }),
  title: z.string(),
  /** A full-screen program has the screen. */
  alternate: z.boolean(),
  cols: z.int(),
  rows: z.int(),
  /** Where in the output this was; pass it as since to hear what changed. */
  offset: z.int(),
  /** Lines that differ from the screen at `since`: their number from 0, and what stands there now. */
  changed: z.array(z.strictObject({ row: z.int(), text: z.string() })).optional(),
  state: SessionState,
});
export type TerminalView = z.infer<typeof TerminalView>;

const Since = z
  .int()
  .min(0)
  .optional()
  .describe("offset of an earlier answer: then changed lists the lines that differ since.");

export const terminalTools = {
  terminal_open: {
    description:
      "Open a terminal for a program that needs one: an editor, a pager, a REPL, an installer, another agent's CLI. For ordinary commands use execute. It stays open until terminal_close.",
    input: z.strictObject({
      command: SystemText.max(limits.body_bytes)
        .optional()
        .describe("What to run; absent: a shell."),
      workdir: SystemText.min(1).max(limits.path_bytes).optional().describe("Directory to run in."),
      cols: z.int().min(20).max(limits.screen_cols).optional().describe("Width, default 100."),
      rows: z.int().min(5).max(limits.screen_rows).optional().describe("Height, default 30."),
      env: ToolEnvironment.optional().describe("Variables to add to the environment."),
      label: SystemText.max(limits.title_chars).optional().describe("A short name for people."),
    }),
    output: TerminalView,
    hints: acts,
  },
  terminal_type: {
    description:
      "Type text and press keys in a terminal, then see the screen once it has settled. Text goes first, then keys in order. A program that thinks for a while shows its answer later: wait for that with terminal_wait.",
    input: z.strictObject({
      terminal_id: TerminalId,
      text: z
        .string()
        .max(limits.input_bytes)
        .optional()
        .describe("What to type; a newline in it is the Enter key."),
      keys: z
        .array(z.string().max(20))
        .max(limits.labels)
        .optional()
        .describe(
          'Keys to press behind it: "enter", "escape", "up", "ctrl+c", "alt+x", "f5", "shift+tab", …',
        ),
      paste: z
        .boolean()
        .optional()
        .describe(
          'Send the text as a paste: in a program that understands pastes, newlines in it do not submit. Control characters are left out. Submit it with keys: ["enter"].',
        ),
      since: Since,
      settle: wait("Wait until nothing has been printed for this long. Default 300ms; 0: do not."),
      timeout: wait("But no longer than this. Default 10s."),
    }),
    output: TerminalView,
    hints: acts,
  },
  terminal_screen: {
    description: "See what stands on a terminal's screen now, and what changed since you looked.",
    input: z.strictObject({ terminal_id: TerminalId, since: Since }),
    output: TerminalView,
    hints: reads,
  },
  terminal_wait: {
    description:
      "Wait until a terminal is quiet, shows a text or a match, or its program has ended; then see the screen. Text and patterns are looked for on the screen.",
    input: z.strictObject({
      terminal_id: TerminalId,
      for: z.enum(["idle", "text", "regex", "exit"]).describe("What to wait for."),
      text: z.string().min(1).max(limits.wait_pattern_chars).optional().describe('For "text".'),
      pattern: z
        .string()
        .min(1)
        .max(limits.wait_pattern_chars)
        .optional()
        .describe(
          'For "regex": an RE2 pattern (no look-around, no back-references); ^ and $ are ends of lines.',
        ),
      idle: wait('For "idle": how long nothing must be printed. Default 1s.'),
      timeout: wait("How long to wait at most. Default 30s."),
      since: Since,
    }),
    output: z.strictObject({ matched: z.boolean(), ...TerminalView.shape }),
    hints: reads,
  },
  terminal_close: {
    description: "End a terminal and everything that runs in it.",
    input: z.strictObject({ terminal_id: TerminalId }),
    output: z.strictObject({ success: z.boolean(), state: SessionState }),
    hints: ends,
  },
} as const satisfies Record<string, ToolSpec>;

/** Any session: terminals and commands of people, and agents. */
export const sessionTools = {
  session_list: {
    description: "List the sessions that you may see: terminals, commands and agents.",
    input: z.strictObject({
      running: z.boolean().optional().describe("true: only what runs."),
      q: z.string().max(limits.title_chars).optional().describe("Words in the title or command."),
      limit: z
        .int()
        .min(1)
        .max(limits.list_most)
        .optional()
        .describe("At most so many, the newest first. Default 50."),
    }),
    output: z.strictObject({ sessions: z.array(Session), omitted: z.int() }),
    hints: reads,
  },
  session_read: {
    description: "Read what a session has printed, from an offset on.",
    input: z.strictObject({
      session_id: SessionId.describe("The session."),
      since: z.int().min(0).optional().describe("Offset to read from; absent: from the start."),
      max_bytes: z
        .int()
        .min(1024)
        .max(limits.model_output_most_bytes)
        .optional()
        .describe("How much to show at most; head and tail are kept."),
    }),
    output: z.strictObject({
      output: z.string(),
      offset: z.int(),
      next_offset: z.int(),
      omitted_bytes: z.int(),
      state: SessionState,
    }),
    hints: reads,
  },
  session_send: {
    description:
      "Type into a session. Somebody else may hold control of it: then this is refused unless you take it.",
    input: z.strictObject({
      session_id: SessionId.describe("The session."),
      text: z
        .string()
        .max(limits.input_bytes)
        .describe("What to type; on a terminal a newline in it is the Enter key."),
      enter: z.boolean().optional().describe("Press Enter behind it."),
      takeover: z.boolean().optional().describe("Take control from whoever holds it."),
    }),
    output: z.strictObject({ success: z.boolean(), message: z.string() }),
    hints: acts,
  },
  session_wait: {
    description: "Wait until a session has ended, is quiet, or has printed a text or a match.",
    input: z.strictObject({
      session_id: SessionId.describe("The session."),
      for: z.enum(["exit", "idle", "text", "regex", "output"]).describe("What to wait for."),
      text: z.string().min(1).max(limits.wait_pattern_chars).optional().describe('For "text".'),
      pattern: z.string().min(1).max(limits.wait_pattern_chars).optional().describe('For "regex".'),
      idle: wait('For "idle": how long nothing must be printed. Default 1s.'),
      since: z.int().min(0).optional().describe("Offset to look from."),
      timeout: wait("How long to wait at most. Default 30s."),
    }),
    output: z.strictObject({
      matched: z.boolean(),
      offset: z.int(),
      end: z.int(),
      tail: z.int(),
      state: SessionState,
    }),
    hints: reads,
  },
} as const satisfies Record<string, ToolSpec>;
