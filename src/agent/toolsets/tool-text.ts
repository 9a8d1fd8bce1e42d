import type { SessionState } from "#contract/session-state.ts";
import type { ProcessEntry } from "#contract/tools/process.ts";
import { withLines } from "#contract/tools/process-text.ts";
import type { TerminalView } from "#contract/tools/terminal-tools.ts";

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
