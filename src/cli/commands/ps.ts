import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { printable, printableJson } from "#cli/program/printable.ts";
import { openClient } from "#cli/target/open-client.ts";
import { listRecords } from "#cli/target/records.ts";
import { type Finder, listSessions } from "#cli/target/target.ts";
import { isLive } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import type { SessionState } from "#contract/session-state.ts";
import { findAnswering } from "#registry/answering.ts";
import { isRun, joinRuns, type Run } from "#registry/runs.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    all: { type: "boolean", short: "a" },
    json: { type: "boolean" },
    remote: { type: "string" },
  });
  refuseWords(positionals);
  const isAll = values.all === true;
  // Live sessions are in a host, so listing them starts none.
  const host = isAll ? "read" : "join";
  await using client = await openClient({ remote: values.remote, host });
  const sessions = await listShown(client, isAll);
  // The addresses of runs on a server are known only there.
  const records = client.address === undefined ? await findAnswering(listRecords()) : [];
  const runs = joinRuns(sessions, records);
  if (values.json === true) {
    const shown = runs.map(({ session, address }) => ({ ...session, address }));
    process.stdout.write(`${printableJson({ sessions: shown })}\n`);
    return 0;
  }
  if (runs.length === 0) {
    process.stderr.write("Nothing is running. Start something with: reins run -- COMMAND\n");
    return 0;
  }
  process.stdout.write(renderTable(runs, Date.now()));
  return 0;
}

/** Runs that live, and sleeping agents that ask; `--all` adds ended sessions and the parts of runs. */
async function listShown(client: Finder, isAll: boolean): Promise<readonly Session[]> {
  if (isAll) return await Array.fromAsync(listSessions(client, {}));
  const live = await Array.fromAsync(listSessions(client, { state: "live" }));
  const agents = await Array.fromAsync(listSessions(client, { kind: "agent" }));
  const asking = agents.filter((session) => !isLive(session) && session.status === "needs_you");
  return [...live, ...asking].filter(isRun);
}

const TITLE_WIDTH = 40;

export function renderTable(runs: readonly Run[], now: number): string {
  const hasName = runs.some(({ session }) => typeof session.name === "string");
  const hasAddress = runs.some(({ address }) => address !== null);
  const rows = runs.map(({ session, address }) => [
    session.session_id,
    ...(hasName ? [session.name ?? ""] : []),
    describeStatus(session),
    session.kind,
    describeAge(now - Date.parse(session.created_at)),
    shorten(printable(session.title), TITLE_WIDTH),
    printable(session.work_dir),
    ...(hasAddress ? [printable(address ?? "")] : []),
  ]);
  const head = ["ID", ...(hasName ? ["NAME"] : []), "STATUS", "KIND", "AGE", "TITLE", "DIRECTORY"];
  return renderColumns([[...head, ...(hasAddress ? ["ADDRESS"] : [])], ...rows]);
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

/** A session that has ended says how; the status of one on an older host is unknown, so its state is shown. */
export function describeStatus({ status, state }: Pick<Session, "status" | "state">): string {
  if (status === "needs_you") return "needs you";
  return (status ?? "ended") === "ended" ? describeState(state) : (status ?? "");
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
