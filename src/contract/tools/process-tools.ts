import * as z from "zod";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { SystemText } from "#contract/session.ts";
import { ToolDuration } from "./duration.ts";
import {
  ProcessEntry,
  ProcessRead,
  ProcessResult,
  SignalResult,
  ToolEnvironment,
  ToolSignal,
} from "./process.ts";
import { acts, ends, reads, type ToolSpec } from "./tool-spec.ts";

const ProcessId = SessionId.describe("The id that execute or process_list gave.");
const Since = z
  .int()
  .min(0)
  .optional()
  .describe("Offset to read from: next_offset of your last read. Absent: from the start.");
const MaxBytes = z
  .int()
  .min(1024)
  .max(limits.model_output_most_bytes)
  .optional()
  .describe("How many bytes of output to show at most; head and tail are kept. Default 32768.");
const wait = (text: string) => ToolDuration.optional().describe(text);

export const Execute = z.strictObject({
  command: SystemText.min(1)
    .max(limits.body_bytes)
    .refine((line) => line.trim() !== "", "the command is empty")
    .describe(
      "A line or script for bash. It gets no terminal and no input: what would ask a question fails at once.",
    ),
  timeout: wait(
    'How long to wait for the end, as "30s" or "5m"; default 10s. When it is over the command goes on in the background and you get its id. 0: start it and return at once.',
  ),
  workdir: SystemText.min(1).max(limits.path_bytes).optional().describe("Directory to run in."),
  run_in_background: z
    .boolean()
    .optional()
    .describe(
      "Start it and return its id at once. Use this for servers, watchers and builds of more than a few seconds. Never put & behind a command yourself.",
    ),
  lifetime: wait("End the command and everything that it started after this long. Default: never."),
  env: ToolEnvironment.optional().describe("Variables to add to the environment."),
  tty: z
    .boolean()
    .optional()
    .describe("Run on a terminal, for programs that need one; type into it with process_input."),
  idempotency_key: z
    .string()
    .min(1)
    .max(limits.label_chars)
    .optional()
    .describe("The same key never starts twice: repeat it when you did not get an answer."),
  label: SystemText.max(limits.title_chars).optional().describe("A short name for people."),
});
export type Execute = z.output<typeof Execute>;

export const ProcessOutput = z.strictObject({
  process_id: ProcessId,
  since: Since,
  max_bytes: MaxBytes,
  wait: wait(
    "Wait this long for what wait_for says, then answer what is there. Default: 10s with wait_for or pattern, else no wait.",
  ),
  wait_for: z
    .enum(["exit", "output", "regex"])
    .optional()
    .describe("What to wait for: the end (default), anything new, or a match of pattern."),
  pattern: z
    .string()
    .min(1)
    .max(limits.wait_pattern_chars)
    .optional()
    .describe(
      'An RE2 pattern for wait_for "regex" (no look-around, no back-references), e.g. "listening on port \\\\d+".',
    ),
});

export const ProcessSignal = z.strictObject({
  process_id: ProcessId,
  signal: ToolSignal.describe("terminate asks it to end, kill forces it, interrupt is Ctrl-C."),
  escalate_after: wait("Kill what is left after this long; the answer says what was needed."),
});

export const ProcessInput = z.strictObject({
  process_id: ProcessId,
  text: z.string().max(limits.input_bytes).optional().describe("What to type, as it is."),
  enter: z.boolean().optional().describe("Press Enter behind it."),
  eof: z.boolean().optional().describe("Then end the input (Ctrl-D)."),
});

export const ProcessWait = z.strictObject({
  process_id: ProcessId,
  timeout: wait("How long to wait for the end at most. Default 10s."),
  since: Since,
  max_bytes: MaxBytes,
});

export const ProcessList = z.strictObject({
  running: z.boolean().optional().describe("true: only what runs; false: only what has ended."),
});

export const processTools = {
  execute: {
    description:
      "Run a shell command and get its output and exit code. It waits up to timeout (10s) for the end; after that the command goes on and you get background_process_id: read on with process_output, wait with process_wait, stop it with process_signal. For servers, watchers and long builds set run_in_background; never use shell &, nohup or disown. There is no exit_code while it runs: do not take that for success.",
    input: Execute,
    output: ProcessResult,
    hints: acts,
  },
  process_output: {
    description:
      "Read what a process has printed since an offset, and whether it still runs. Pass next_offset of the last answer as since to get only what is new. With wait it waits for the end, for new output or for a pattern, which is better than asking again and again.",
    input: ProcessOutput,
    output: ProcessRead,
    hints: reads,
  },
  process_wait: {
    description:
      "Wait until a process has ended and get the end of its output and its exit code. Use it for a build or a test run that you started in the background. When the time is over it answers that the process still runs.",
    input: ProcessWait,
    output: ProcessRead,
    hints: reads,
  },
  process_list: {
    description:
      "List the processes that you started, the newest first, with whether they run and how much they printed. Use it when you have lost an id, and before you end your work, so that nothing runs on unseen.",
    input: ProcessList,
    output: z.strictObject({
      processes: z.array(ProcessEntry),
      /** That did not fit. */
      omitted: z.int(),
    }),
    hints: reads,
  },
  process_signal: {
    description:
      "Send a signal to a process and everything that it started. terminate lets it clean up; add escalate_after to kill what does not end. Signalling one that has ended is no error.",
    input: ProcessSignal,
    output: SignalResult,
    hints: ends,
  },
  process_input: {
    description:
      "Type into a process that was started with tty, or end its input. For full-screen programs use the terminal tools instead.",
    input: ProcessInput,
    output: z.strictObject({ success: z.boolean(), message: z.string() }),
    hints: acts,
  },
} as const satisfies Record<string, ToolSpec>;
