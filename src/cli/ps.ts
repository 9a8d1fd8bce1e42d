import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import { openLocal } from "./context.ts";
import { parseOptions, refuseWords } from "./options.ts";
import { printable } from "./printable.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    all: { type: "boolean", short: "a" },
    json: { type: "boolean" },
  });
  refuseWords(positionals);
  using local = await openLocal();
  const sessions = await listAll(local.operations, values.all === true);
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify({ sessions })}\n`);
    return 0;
  }
  if (sessions.length === 0) {
    process.stderr.write("Nothing is running. Start something with: reins run -- COMMAND\n");
    return 0;
  }
  process.stdout.write(renderTable(sessions, Date.now()));
  return 0;
}

type Operations = Awaited<ReturnType<typeof openLocal>>["operations"];

const PAGE = 1000;

async function listAll(operations: Operations, withEnded: boolean): Promise<readonly Session[]> {
  const sessions: Session[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Operations["session.list"]>> = await operations["session.list"]({
      limit: PAGE,
      ...(withEnded ? {} : { state: "live" }),
      ...(cursor === null ? {} : { cursor }),
    });
    sessions.push(...page.sessions);
    cursor = page.cursor;
  } while (cursor !== null);
  return sessions;
}

const TITLE_WIDTH = 40;

export function renderTable(sessions: readonly Session[], now: number): string {
  const rows = sessions.map((session) => [
    session.session_id,
    describeState(session.state),
    session.kind,
    describeAge(now - Date.parse(session.created_at)),
    shorten(printable(session.title), TITLE_WIDTH),
    printable(session.work_dir),
  ]);
  return renderColumns([["ID", "STATE", "KIND", "AGE", "TITLE", "DIRECTORY"], ...rows]);
}

/** Rows of cells, each column as wide as its widest cell. */
export function renderColumns(table: readonly (readonly string[])[]): string {
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => (row[column] ?? "").length))) ?? [];
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

export function describeState(state: SessionState): string {
  switch (state.kind) {
    case "exited":
      return state.signal === null ? `exited ${state.exit_code ?? "?"}` : state.signal;
    case "starting":
    case "running":
    case "lost":
      return state.kind;
  }
}

export function describeAge(ms: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  for (const [unit, size] of units) if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  return `${Math.max(0, Math.floor(ms / 1000))}s`;
}

export function shorten(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join("")}…`;
}
