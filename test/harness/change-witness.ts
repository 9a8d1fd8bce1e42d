import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import type { Page } from "playwright-core";
import type { Session } from "#contract/session.ts";
import { waitFor } from "./eventually.ts";
import { binPath } from "./packaged.ts";
import { repeats } from "./repeats.ts";

const WAIT_MS = 30_000;
/** A change that is real is shown within a second, which `npm run test:changes` demands. Beside other tests it is only shown. */
const SHOWN_WITHIN_MS = repeats({ few: WAIT_MS, full: 1000 });

export interface Change {
  readonly what: string;
  /** Absent: it happens by itself. */
  readonly act?: () => Promise<unknown>;
  /** Whether it is real, by /proc, a file or the log itself: nothing that Reins reports. */
  readonly real: () => boolean;
  /** Texts that the row of the session holds then; null: there is no row. */
  readonly row?: readonly string[] | null | undefined;
  /** A sentence that the page shows then, or no longer. */
  readonly notice?: { readonly text: string; readonly isShown: boolean } | undefined;
  /** Fields of the session in `reins ps`; null: it is not listed. */
  readonly ps?: Partial<Session> | null;
}

interface Measured {
  readonly what: string;
  /** Undefined: never. */
  readonly page: number | undefined;
  readonly ps: number | undefined;
}

export interface Witness {
  readonly measured: readonly Measured[];
  /** Makes a change, waits until it is real, then until the page and `reins ps` show it, and notes how long each took. */
  see(sessionId: () => string, change: Change): Promise<void>;
}

/** `page` shows the list of sessions, and is never reloaded. */
export function createWitness(page: Page, dataDir: string): Witness {
  const measured: Measured[] = [];
  const see = async (sessionId: () => string, change: Change) => {
    const { what, act, real, row, notice, ps } = change;
    await act?.();
    const id = sessionId();
    // The page notes the moment by itself: how long a test takes to ask it does not count.
    const watching = page.evaluate<number | null>(watchPage(id, { row, notice }));
    await waitFor(`it is real: ${what}`, real, { timeout: WAIT_MS });
    const realAt = Date.now();
    // The page first and alone: `reins ps` may start a host, which the page must not need.
    const shownAt = await watching;
    const listedAt = ps === undefined ? realAt : await firstListed(dataDir, id, ps);
    const after = (at: number | null | undefined) =>
      typeof at === "number" ? Math.max(0, at - realAt) : undefined;
    measured.push({ what, page: after(shownAt), ps: after(listedAt) });
  };
  return { measured, see };
}

/** The changes that were shown late or never. */
export function findLate(measured: readonly Measured[]): readonly string[] {
  const isLate = (ms: number | undefined) => ms === undefined || ms > SHOWN_WITHIN_MS;
  return measured.filter(({ page, ps }) => isLate(page) || isLate(ps)).map(({ what }) => what);
}

export function formatMeasured(measured: readonly Measured[]): string {
  const say = (ms: number | undefined) => (ms === undefined ? "never" : `${ms} ms`).padStart(9);
  return measured
    .map(
      ({ what, page, ps }, at) => `${String(at + 1).padStart(2)} ${say(page)} ${say(ps)}  ${what}`,
    )
    .join("\n");
}

/** A string: these tests know no DOM. It answers when the row or the notice was first as wanted. */
function watchPage(id: string, { row, notice }: Pick<Change, "row" | "notice">): string {
  return `(async () => {
    const { link, row, notice, until } = ${JSON.stringify({
      link: `a[href="#/s/${id}"]`,
      row,
      notice,
      until: Date.now() + WAIT_MS,
    })};
    const isShown = () => {
      const text = document.querySelector(link)?.closest("tr")?.textContent ?? null;
      const isRow = row === null ? text === null : (row ?? []).every((part) => text?.includes(part));
      const isNotice = !notice || document.body.textContent.includes(notice.text) === notice.isShown;
      return isRow && isNotice;
    };
    while (!isShown()) {
      if (Date.now() > until) return null;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return Date.now();
  })()`;
}

/** When the first `reins ps` that showed it was started; its own start is not the age of what it shows. */
async function firstListed(
  dataDir: string,
  id: string,
  wanted: Partial<Session> | null,
): Promise<number | undefined> {
  return await waitFor(
    "ps shows it",
    async () => {
      const startedAt = Date.now();
      const found = await listByProgram(dataDir, id);
      return isAsWanted(found, wanted) ? startedAt : undefined;
    },
    { timeout: WAIT_MS },
  ).catch(() => undefined);
}

function isAsWanted(found: Session | undefined, wanted: Partial<Session> | null): boolean {
  if (wanted === null || found === undefined) return wanted === null && found === undefined;
  const isSame = ([name, value]: [string, unknown]) =>
    isDeepStrictEqual(found[name as keyof Session], value);
  return Object.entries(wanted).every(isSame);
}

async function listByProgram(dataDir: string, id: string): Promise<Session | undefined> {
  const env = { ...process.env, REINS_HOME: dataDir };
  const args = [binPath, "ps", "-a", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const { sessions }: { sessions: Session[] } = JSON.parse(stdout);
  return sessions.find(({ session_id }) => session_id === id);
}

export interface LoggedAgent {
  readonly hasTurn: boolean;
  readonly questions: readonly string[];
  readonly last: string;
}

/** The state that the raw log of an agent implies: its open turn, its open questions and its last event. */
export function readAgentLog(dataDir: string, session_id: string): LoggedAgent {
  const path = join(dataDir, "sessions", session_id, "events", "0000000000000000");
  const questions = new Set<string>();
  let hasTurn = false;
  let last = "";
  for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1)) {
    const event = JSON.parse(line);
    last = event.type;
    const question = event.approval_id ?? event.elicitation_id;
    if (event.type.endsWith(".requested")) questions.add(question);
    else if (event.type.endsWith(".resolved")) questions.delete(question);
    else if (event.type === "turn.started") hasTurn = true;
    else if (event.type === "turn.ended") {
      hasTurn = false;
      questions.clear();
    }
  }
  return { hasTurn, questions: [...questions], last };
}
