import type { ProcessRead, ProcessResult } from "./process.ts";

/** A process in words, for a model: what it printed, then how it stands, a line each. */
export function sayProcess(result: ProcessResult | ProcessRead): string {
  const { error, note, truncated, background_process_id: id } = result;
  return withLines(result.output, [
    sayStanding(result),
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(id === undefined ? [] : [`background_process_id: ${id}`]),
    ...("next_offset" in result ? [`next_offset: ${result.next_offset}`] : []),
    ...(truncated === undefined
      ? []
      : [
          `${truncated.omitted_bytes} of ${truncated.original_bytes} bytes omitted, from offset ${truncated.spool_offset} on`,
        ]),
    ...(note === undefined ? [] : [`note: ${note}`]),
  ]);
}

const EXIT_LINE = /^\[exit code (\d+) after [\d.]+ s(?:, ended by \w+)?\]$/;

/** Tools whose results are texts of `sayProcess`. */
const PROCESS_TOOLS = ["execute", "process_output", "process_wait"];

export interface ReportedExit {
  readonly exit_code: number;
  /** The output of the process, without the lines about it. */
  readonly printed: string;
}

/** The exit that the result of a tool reports; undefined while the process runs, and for any other tool or text. */
export function findExit(tool: string, text: string): ReportedExit | undefined {
  if (!PROCESS_TOOLS.includes(tool)) return undefined;
  const start = text.lastIndexOf("[exit code ");
  if (start === -1 || (start > 0 && text[start - 1] !== "\n")) return undefined;
  const end = text.indexOf("\n", start);
  const [, code] = EXIT_LINE.exec(text.slice(start, end === -1 ? text.length : end)) ?? [];
  return code === undefined
    ? undefined
    : { exit_code: Number(code), printed: text.slice(0, start) };
}

/** A text as it is, and lines about it that cannot be taken for its own. */
export function withLines(text: string, lines: readonly string[]): string {
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${end}${lines.map((line) => `[${line}]`).join("\n")}`;
}

function sayStanding({ running, exit_code, signal, wall_duration_ms }: ProcessResult): string {
  const after = `after ${(wall_duration_ms / 1000).toFixed(1)} s`;
  if (running) return `still running ${after}`;
  const by = signal === undefined ? "" : `, ended by ${signal}`;
  return exit_code === undefined
    ? `no exit code ${after}${by}`
    : `exit code ${exit_code} ${after}${by}`;
}
