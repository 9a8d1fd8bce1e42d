import { printable } from "#cli/program/printable.ts";
import { nameThere } from "#cli/target/open-client.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import type { Client } from "#client/client.ts";
import { asFault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import { type Ending, isExpected, onLeaving, reportEnding } from "./ending.ts";
import { DETACH_HINT } from "./key-chords.ts";
import { typeInto } from "./keyboard.ts";
import { currentSize, openRawMode } from "./raw-mode.ts";
import { readOutput } from "./read-output.ts";
import { Screen } from "./screen.ts";
import { Typing } from "./typing.ts";

export interface AttachOptions {
  readonly role: "viewer" | "controller";
  readonly takeover: boolean;
  /** Undefined: the last part of the output, or the screen as it is. */
  readonly since: number | undefined;
  readonly isNew: boolean;
}

/** How much of the past is shown where it is read from the log. */
const HISTORY_BYTES = 256 * 1024;
/** How much before that is searched for the modes that a program has set. */
const MODES_BYTES = 4 * 1024 * 1024;

/** This terminal becomes the session's until it ends or the user detaches; the exit code is the session's. */
export async function attachTerminal(
  client: Client,
  session: Session,
  wanted: AttachOptions,
): Promise<number> {
  const { session_id } = session;
  const { takeover, isNew } = wanted;
  const { role, why } = await claimControl(client, session, wanted);
  const since = wanted.since ?? findStart(client, session);
  const from = since === undefined ? { paint: true } : { since };
  const attachment = client.attach(session_id, { role, takeover, stay: true, ...from });
  const repaint = () => client.call("session.signal", { session_id, signal: "SIGWINCH" });
  await using typing = new Typing(attachment, { role, repaint });
  const events = typing.events();
  const historyEnd = isNew ? 0 : await findHistoryEnd(events);
  const screen = new Screen({ historyEnd });
  const hello = isNew ? DETACH_HINT : `attached to ${session.name ?? session_id}; ${DETACH_HINT}`;
  const notices = why === undefined ? [hello] : [hello, why];
  const reader = new Reader(client, { session, screen, typing, since, historyEnd });
  const ending = await converse(reader, { typing, screen, events, notices });
  const target = ending.kind === "detached" ? await findTarget(client, session_id) : session_id;
  const back = `reins attach ${nameThere(client, target)}`;
  return reportEnding(ending, { session_id, back }, screen);
}

/** The name that the session has by now, so that the printed command finds it after a rename; otherwise its id. */
async function findTarget(client: Client, session_id: Session["session_id"]): Promise<string> {
  const session = await client.call("session.get", { session_id }).catch(() => undefined);
  return session?.name ?? session_id;
}

interface Claim {
  readonly role: "viewer" | "controller";
  /** Why the user only watches, if that is not what was wanted. */
  readonly why?: string;
}

/**
 * The controller is found out by setting the size, which comes first anyway: a handshake that is refused gives no reason, and
 * a screen of our size can be painted here as it is.
 */
async function claimControl(
  client: Client,
  { session_id, controller }: Session,
  { role, takeover, isNew }: AttachOptions,
): Promise<Claim> {
  if (role === "viewer" || isNew) return { role };
  try {
    await client.call("session.resize", { session_id, ...currentSize() });
    return { role };
  } catch (error) {
    const { code, message } = asFault(error);
    if (code === "already_exited") return { role: "viewer" };
    if (code === "forbidden") return { role: "viewer", why: `you watch: ${printable(message)}` };
    if (code !== "not_controller") throw error;
    if (takeover) return { role };
    const holder = printable(controller?.holder ?? "somebody");
    return { role: "viewer", why: `${holder} types here, you watch; Ctrl-\\ t takes over` };
  }
}

/** On this machine, history is read from the log. A server paints the screen instead: undefined. */
function findStart({ address }: Client, { first_offset, tail }: Session): number | undefined {
  return address === undefined ? Math.max(first_offset, tail - HISTORY_BYTES) : undefined;
}

/** Output up to there was printed before the user came. */
async function findHistoryEnd(events: AsyncIterator<AttachEvent, void>): Promise<number> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return 0;
    if (next.value.type === "failed") throw next.value.fault;
    if (next.value.type === "connected") return next.value.tail;
  }
}

interface Conversation {
  readonly typing: Typing;
  readonly screen: Screen;
  readonly events: AsyncIterable<AttachEvent>;
  /** Shown once keys go to the session: a reader of "Ctrl-\\ d detaches" may press it at once. */
  readonly notices: readonly string[];
}

async function converse(
  reader: Reader,
  { typing, screen, events, notices }: Conversation,
): Promise<Ending> {
  let ending: Ending | undefined;
  const leave = (why: Ending) => {
    ending ??= why;
    void typing.leave();
  };
  using stack = new DisposableStack();
  stack.use(openRawMode(() => screen.undo()));
  stack.use(onLeaving(leave));
  stack.use(typeInto(typing, () => leave({ kind: "detached" })));
  for (const notice of notices) screen.notice(notice);
  await reader.recall();
  for await (const event of events) {
    ending ??= await reader.hear(event);
    if (ending !== undefined) break;
  }
  return ending ?? { kind: "detached" };
}

interface Reading {
  readonly session: Session;
  readonly screen: Screen;
  readonly typing: Typing;
  /** Undefined where the screen is painted. */
  readonly since: number | undefined;
  readonly historyEnd: number;
}

/** Shows the events of an attachment to the user. */
class Reader {
  readonly #client: Client;
  readonly #reading: Reading;
  #holder = "somebody";
  #isAway = false;
  /** Shows what was printed before the user came. */
  #isBehind: boolean;

  constructor(client: Client, reading: Reading) {
    this.#client = client;
    this.#reading = reading;
    this.#isBehind = reading.since !== undefined;
  }

  /** The modes that output before `since` has set: without them a full-screen program would paint over the shell. */
  async recall(): Promise<void> {
    const { session, screen, since } = this.#reading;
    if (since === undefined) return;
    const from = Math.max(session.first_offset, since - MODES_BYTES);
    if (since > from && since <= session.tail) {
      for await (const { bytes } of readOutput(this.#client, session, { from, to: since }))
        screen.skip(bytes);
      await screen.recall();
    }
    this.#reached(since);
  }

  /** Answers how it ends, when it does. */
  async hear(event: AttachEvent): Promise<Ending | undefined> {
    const { screen, typing } = this.#reading;
    switch (event.type) {
      case "output":
        await screen.write(event.offset, event.bytes);
        if (!this.#isBehind) typing.printed();
        this.#reached(event.offset + event.bytes.length);
        return undefined;
      case "screen":
        await screen.paint(event.state, currentSize().rows);
        return undefined;
      case "exit":
        return await this.#describeExit(event);
      case "failed":
        return { kind: "failed", error: event.fault };
      default:
        this.#note(event);
        // Another host knows nothing of this one's sessions but their logs.
        return event.type === "lost" && this.#isHere ? { kind: "host_gone" } : undefined;
    }
  }

  get #isHere(): boolean {
    return this.#client.address === undefined;
  }

  #reached(offset: number): void {
    const { historyEnd, screen, typing } = this.#reading;
    if (!this.#isBehind || offset < historyEnd) return;
    this.#isBehind = false;
    if (screen.isAlternate) typing.repaint();
  }

  async #describeExit(event: Extract<AttachEvent, { readonly type: "exit" }>): Promise<Ending> {
    const { exit_code, signal, reason } = event;
    if (reason === "host_lost") return { kind: "lost" };
    if (reason === "exited") return { kind: "exited", exit_code, signal, reason };
    const { session_id } = this.#reading.session;
    const session = await this.#client.call("session.get", { session_id }).catch(() => undefined);
    const detail = session?.state.kind === "exited" ? session.state.detail : undefined;
    return {
      kind: "exited",
      exit_code,
      signal,
      reason,
      ...(detail === undefined ? {} : { detail }),
    };
  }

  #note(event: AttachEvent): void {
    const { screen, typing } = this.#reading;
    if (event.type === "gap") {
      screen.notice(`${event.to - event.from} bytes are no longer kept`);
      this.#reached(event.to);
    }
    if (event.type === "connected") typing.resize(currentSize());
    if (event.type === "control") this.#holder = event.holder ?? this.#holder;
    if (event.type === "taken_over")
      screen.notice(`${printable(this.#holder)} has taken control; Ctrl-\\ t takes it back`);
    if (event.type === "lost" && !this.#isHere) {
      this.#isAway = true;
      screen.notice(`the server is away; it is tried again, ${DETACH_HINT}`);
    }
    if (event.type === "restored" && this.#isAway) {
      this.#isAway = false;
      screen.notice("the server is back");
      if (screen.isAlternate) typing.repaint();
    }
    if (event.type === "error" && !isExpected(event.fault))
      screen.notice(printable(event.fault.message));
  }
}
