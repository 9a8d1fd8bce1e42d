import type { SessionState } from "#contract/session-state.ts";
import type { ProcessEntry, ProcessRead, ProcessResult } from "#contract/tools/process.ts";
import type { TerminalView } from "#contract/tools/terminal-tools.ts";

/** What was printed, then how the process stands, a line each. */
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

export function sayProcesses(processes: readonly ProcessEntry[], omitted: number): string {
  if (processes.length === 0) return "no processes";
  const more = omitted === 0 ? [] : [`and ${omitted} more`];
  return [...processes.map(sayEntry), ...more].join("\n");
}

/** The screen as it is, then where the cursor is and what runs. */
export function sayTerminal(view: TerminalView): string {
  const { cursor, changed, title } = view;
  return withLines(view.screen, [
    `terminal_id: ${view.terminal_id}`,
    `${sayState(view.state)}, cursor at row ${cursor.row} column ${cursor.col}, ${view.cols}x${view.rows}`,
    ...(view.alternate ? ["a full-screen program has the screen"] : []),
    ...(title === "" ? [] : [`title: ${title}`]),
    ...(changed === undefined ? [] : [sayChanged(changed)]),
    `offset: ${view.offset}`,
  ]);
}

export function sayState(state: SessionState): string {
  if (state.kind === "lost") return "lost: its host died";
  if (state.kind !== "exited") return state.kind;
  return `ended${sayCode(state.exit_code ?? undefined, state.signal ?? undefined)}`;
}

function sayStanding({ running, exit_code, signal, wall_duration_ms }: ProcessResult): string {
  const after = `after ${(wall_duration_ms / 1000).toFixed(1)} s`;
  if (running) return `still running ${after}`;
  const by = signal === undefined ? "" : `, ended by ${signal}`;
  return exit_code === undefined
    ? `no exit code ${after}${by}`
    : `exit code ${exit_code} ${after}${by}`;
}

function sayEntry(entry: ProcessEntry): string {
  const { process_id, command, running, bytes, descendants, workdir } = entry;
  const how = running ? "running" : `ended${sayCode(entry.exit_code, entry.signal)}`;
  const kept = descendants === 0 ? "" : `, ${descendants} more processes in it`;
  return `${process_id} ${how}${kept}, ${bytes} bytes printed, in ${workdir}: ${command}`;
}

function sayCode(code: number | undefined, signal: string | undefined): string {
  const exit = code === undefined ? "" : ` with exit code ${code}`;
  return signal === undefined ? exit : `${exit} by ${signal}`;
}

function sayChanged(changed: NonNullable<TerminalView["changed"]>): string {
  if (changed.length === 0) return "nothing has changed";
  return `changed rows: ${changed.map(({ row }) => row).join(", ")}`;
}

function withLines(text: string, lines: readonly string[]): string {
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${end}${lines.map((line) => `[${line}]`).join("\n")}`;
}
