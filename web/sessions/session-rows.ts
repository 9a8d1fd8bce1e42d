import type { Session } from "#contract/session.ts";
import { nameOf } from "./session-name.ts";
import { hasEnded } from "./state-words.ts";

export const PHASES = ["all", "running", "asking", "ended"] as const;
export const KINDS = ["all", "terminal", "command", "agent"] as const;
export const ORDERS = ["newest", "activity", "name"] as const;

/** What somebody wants to see of all sessions, and in which order. */
export interface ListChoice {
  readonly phase: (typeof PHASES)[number];
  readonly kind: (typeof KINDS)[number];
  /** Undefined = all. */
  readonly workspaceId: string | undefined;
  readonly search: string;
  readonly order: (typeof ORDERS)[number];
}

export interface ListSource {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly asking: ReadonlySet<string>;
  /** When something was last printed, if that is known to be later than the session says. */
  readonly findActivity?: ((sessionId: string) => string | undefined) | undefined;
}

interface RowOptions {
  readonly choice: ListChoice;
  /** Those whose children are folded away. */
  readonly collapsed: ReadonlySet<string>;
  /** Whoever waits for an answer comes first, with all that it belongs to. */
  readonly askingFirst?: boolean;
}

/** One line of the list; children come right after their parent. */
export interface SessionRow {
  readonly session: Session;
  readonly isAsking: boolean;
  /** 1 for those at the top. */
  readonly level: number;
  /** Among those of the same parent, from 1 on. */
  readonly position: number;
  readonly setSize: number;
  readonly childCount: number;
  readonly isExpanded: boolean;
  /** A child that is folded away waits for an answer. */
  readonly isAskingBelow: boolean;
}

/** A child whose parent is not shown, for whatever reason, is at the top. */
export function buildRows(source: ListSource, options: RowOptions): SessionRow[] {
  const shown = filterSessions(source, options.choice);
  const tree = growTree(shown);
  const compare = createOrder(source, options, tree);
  const rows: SessionRow[] = [];
  // A stack and no recursion: how deep the children of children go is not ours to say.
  const waiting: Placed[] = [];
  pushSorted(waiting, tree.roots.toSorted(compare), 1);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { session_id } = next.session;
    const children = tree.childrenOf.get(session_id) ?? [];
    const isExpanded = children.length > 0 && !options.collapsed.has(session_id);
    rows.push({
      ...next,
      isAsking: source.asking.has(session_id),
      childCount: children.length,
      isExpanded,
      isAskingBelow:
        !isExpanded && children.length > 0 && isAnyAsking(source.asking, children, tree),
    });
    if (isExpanded) pushSorted(waiting, children.toSorted(compare), next.level + 1);
  }
  return rows;
}

/** How many there would be in each phase, with everything else as it is chosen. */
export function countPhases(
  source: ListSource,
  choice: ListChoice,
): Readonly<Record<ListChoice["phase"], number>> {
  const counts = { all: 0, running: 0, asking: 0, ended: 0 };
  for (const session of filterSessions(source, { ...choice, phase: "all" })) {
    counts.all += 1;
    counts[hasEnded(session) ? "ended" : "running"] += 1;
    if (source.asking.has(session.session_id)) counts.asking += 1;
  }
  return counts;
}

function filterSessions(source: ListSource, choice: ListChoice): Session[] {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  return [...source.sessions.values()].filter(
    (session) =>
      isInPhase(session, choice.phase, source.asking) &&
      (choice.kind === "all" || session.kind === choice.kind) &&
      (choice.workspaceId === undefined || session.workspace_id === choice.workspaceId) &&
      hasWords(session, words),
  );
}

function isInPhase(
  session: Session,
  phase: ListChoice["phase"],
  asking: ReadonlySet<string>,
): boolean {
  switch (phase) {
    case "all":
      return true;
    case "running":
      return !hasEnded(session);
    case "asking":
      return asking.has(session.session_id);
    case "ended":
      return hasEnded(session);
  }
}

/** Every word, wherever it stands. */
function hasWords(session: Session, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = textOf(session);
  return words.every((word) => text.includes(word));
}

/** A changed session is another object, so that what was made of it is never old. */
const texts = new WeakMap<Session, string>();

function textOf(session: Session): string {
  const known = texts.get(session);
  if (known !== undefined) return known;
  const { title, name, agent, argv, work_dir, session_id } = session;
  const text = [title, name, agent, argv.join(" "), work_dir, session_id].join("\n").toLowerCase();
  texts.set(session, text);
  return text;
}

type Placed = Pick<SessionRow, "session" | "level" | "position" | "setSize">;

function pushSorted(waiting: Placed[], sorted: readonly Session[], level: number): void {
  for (const [index, session] of [...sorted.entries()].reverse())
    waiting.push({ session, level, position: index + 1, setSize: sorted.length });
}

interface Tree {
  readonly roots: readonly Session[];
  readonly childrenOf: ReadonlyMap<string, readonly Session[]>;
}

function growTree(shown: readonly Session[]): Tree {
  const byId = new Map(shown.map((session) => [session.session_id, session]));
  const roots: Session[] = [];
  const childrenOf = new Map<string, Session[]>();
  for (const session of shown) {
    const parentId = session.parent_session_id;
    if (parentId === null || !byId.has(parentId) || isOwnAncestor(session, byId)) {
      roots.push(session);
      continue;
    }
    const siblings = childrenOf.get(parentId);
    if (siblings === undefined) childrenOf.set(parentId, [session]);
    else siblings.push(session);
  }
  return { roots, childrenOf };
}

/** No server says so; if one did, a ring without a top would never be shown. */
function isOwnAncestor(session: Session, byId: ReadonlyMap<string, Session>): boolean {
  const seen = new Set<string>();
  let parentId = session.parent_session_id;
  while (parentId !== null && !seen.has(parentId)) {
    if (parentId === session.session_id) return true;
    seen.add(parentId);
    parentId = byId.get(parentId)?.parent_session_id ?? null;
  }
  return false;
}

type Compare = (a: Session, b: Session) => number;

function createOrder(
  source: ListSource,
  { choice, askingFirst = false }: RowOptions,
  tree: Tree,
): Compare {
  const order = orders[choice.order](source, tree);
  const settled: Compare = (a, b) => order(a, b) || compareTexts(a.session_id, b.session_id);
  if (!askingFirst || source.asking.size === 0) return settled;
  const isFirst = (session: Session) =>
    source.asking.has(session.session_id) || isAnyAsking(source.asking, [session], tree);
  const first = new Map<Session, boolean>();
  const find = (session: Session) => {
    const known = first.get(session) ?? isFirst(session);
    first.set(session, known);
    return known;
  };
  return (a, b) => Number(find(b)) - Number(find(a)) || settled(a, b);
}

const orders: Readonly<Record<ListChoice["order"], (source: ListSource, tree: Tree) => Compare>> = {
  newest: () => (a, b) => compareTexts(b.created_at, a.created_at),
  activity: (source, tree) => {
    const latest = findLatest(source, tree);
    return (a, b) => compareTexts(latest(b), latest(a));
  },
  name: () => (a, b) => nameOf(a).localeCompare(nameOf(b), undefined, { numeric: true }),
};

/** A busy child raises its parent. */
function findLatest(
  { findActivity }: ListSource,
  { childrenOf }: Tree,
): (session: Session) => string {
  const known = new Map<Session, string>();
  const own = (session: Session) => {
    const heard = findActivity?.(session.session_id) ?? "";
    const isLater = heard > session.last_io_at;
    return isLater ? heard : session.last_io_at;
  };
  return (session) => {
    const found = known.get(session);
    if (found !== undefined) return found;
    let latest = own(session);
    for (const below of descendants([session], childrenOf))
      if (own(below) > latest) latest = own(below);
    known.set(session, latest);
    return latest;
  };
}

function isAnyAsking(
  asking: ReadonlySet<string>,
  sessions: readonly Session[],
  { childrenOf }: Tree,
): boolean {
  if (asking.size === 0) return false;
  return descendants(sessions, childrenOf).some(({ session_id }) => asking.has(session_id));
}

/** Those given and all below them. */
function descendants(
  sessions: readonly Session[],
  childrenOf: Tree["childrenOf"],
): readonly Session[] {
  const found = [...sessions];
  // It grows while it is walked.
  for (const session of found) found.push(...(childrenOf.get(session.session_id) ?? []));
  return found;
}

/** By the code units: these are ids and moments in ISO form. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
