import { type LogLine, lines } from "#log/lines.ts";
import { readRange } from "#log/read-range.ts";
import type { LogReader } from "#session/session-host.ts";

const CHUNK_BYTES = 64 * 1024;
/** An agent asks a handful at a time; beyond this the oldest are forgotten. */
const QUESTIONS = 1000;

/** An event that asks or answers, by the name of the field that says which. */
const questions: Readonly<Record<string, { readonly key: string; readonly isOpen: boolean }>> = {
  "approval.requested": { key: "approval_id", isOpen: true },
  "approval.resolved": { key: "approval_id", isOpen: false },
  "elicitation.requested": { key: "elicitation_id", isOpen: true },
  "elicitation.resolved": { key: "elicitation_id", isOpen: false },
};

type Line = Readonly<Record<string, unknown>>;

/** Reads an agent's events once, from the first to the last, and says whether a question is open there. */
export class QuestionCursor {
  readonly #open = new OpenQuestions();
  #next = 0;

  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  /** From where it was. `each` is called for every line and may throw to stop. */
  async read(events: LogReader, to: number, each?: () => void): Promise<void> {
    for await (const line of lines(readRange(events, this.#next, { to, limit: CHUNK_BYTES }))) {
      each?.();
      if (line.kind === "line") this.#open.apply(line.value);
      this.#next = behind(line);
    }
  }
}

/**
 * What an agent has asked and nobody has answered, as its events tell. A turn takes the agent's own questions along, a
 * worker that was cut off all of them; one that was parked goes on asking.
 */
export class OpenQuestions {
  /** By name: whether a helper of the agent asked. */
  readonly #open = new Map<string, boolean>();

  get size(): number {
    return this.#open.size;
  }

  apply(line: Line): void {
    const { type } = line;
    if (type === "turn.ended" && line.subagent_id === undefined) this.#endTurn();
    else if (type === "session.exited" && !wasParked(line.state)) this.#open.clear();
    else if (typeof type === "string" && Object.hasOwn(questions, type))
      this.#applyQuestion(line, questions[type]);
  }

  #applyQuestion(line: Line, question: (typeof questions)[string] | undefined): void {
    const id = question === undefined ? undefined : line[question.key];
    if (question === undefined || typeof id !== "string") return;
    const name = `${question.key} ${id}`;
    this.#open.delete(name);
    if (question.isOpen) this.#open.set(name, line.subagent_id !== undefined);
    const [oldest] = this.#open.keys();
    if (this.#open.size > QUESTIONS && oldest !== undefined) this.#open.delete(oldest);
  }

  #endTurn(): void {
    for (const [name, isHelpers] of this.#open) if (!isHelpers) this.#open.delete(name);
  }
}

/** A worker that ends by itself, and well, goes on where it was. */
function wasParked(state: unknown): boolean {
  if (typeof state !== "object" || state === null) return false;
  const { kind, reason, exit_code } = state as Line;
  return kind === "exited" && reason === "exited" && exit_code === 0;
}

/** Half a line is read again with its rest. */
function behind(line: LogLine): number {
  if (line.kind === "line") return line.end_offset;
  return line.reason === "unfinished" ? line.from : line.to;
}
