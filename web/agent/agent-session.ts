import type { Client } from "#client/client.ts";
import { type Pause, pause } from "#client/transport/backoff.ts";
import type { AgentSnapshot } from "#contract/agent/views.ts";
import { applyEvent, emptyConversation } from "#contract/conversation/conversation.ts";
import type { Conversation } from "#contract/conversation/items.ts";
import { addEarlier, earlierPage, fromSnapshot } from "#contract/conversation/snapshot.ts";
import { Fault } from "#contract/fault.ts";
import type { SessionId } from "#contract/ids.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { sayFault } from "#web/live/page-client.ts";
import { retryDelay } from "#web/live/retry.ts";
import { Store } from "#web/live/store.ts";

export interface AgentShown {
  /** `away`: the server cannot be reached, and what is shown is what was last known. */
  readonly status: "loading" | "live" | "away" | "failed";
  /** Why there is nothing to show. */
  readonly problem: string | undefined;
  readonly talk: Conversation;
}

interface AgentSessionOptions {
  readonly client: Pick<Client, "call" | "stream">;
  readonly sessionId: SessionId;
  /** Calls before the page is drawn next. */
  readonly nextFrame?: (draw: () => void) => void;
  readonly pause?: Pause;
}

/**
 * Histories up to here are read from their first event on, which tells more than a snapshot: what sub-agents did, notices,
 * how long calls took. It is about what a phone loads in a second.
 */
const WHOLE_BYTES = 1024 * 1024;
const HIDDEN_FRAME_MS = 200;

/** Faults that asking again does not help against. */
const LASTING: readonly string[] = ["session_not_found", "unsupported", "forbidden"];

/**
 * An agent's session as it is now.
 *
 *   snapshot ──→ shown ──→ (all events, if they are few) ──→ the events behind, one by one ──→ cut ──→ snapshot …
 */
export class AgentSession {
  readonly view = new Store<AgentShown>({
    status: "loading",
    problem: undefined,
    talk: emptyConversation,
  });
  /** How often something was said from this page: whoever speaks wants to see the answer. */
  readonly said = new Store(0);
  readonly #options: AgentSessionOptions;
  #talk = emptyConversation;
  #isDrawing = false;

  constructor(options: AgentSessionOptions) {
    this.#options = options;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { pause: wait = pause } = this.#options;
    for (let attempts = 0; !signal.aborted; attempts += 1) {
      let cause: unknown;
      try {
        await this.#followOnce(signal, () => {
          attempts = 0;
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Fault && LASTING.includes(error.code)) {
          this.view.set({ status: "failed", problem: sayFault(error), talk: this.#talk });
          return;
        }
        this.#say(this.view.get().status === "loading" ? "loading" : "away", sayFault(error));
        cause = error;
      }
      const ms = retryDelay(cause, attempts);
      if (ms === undefined) return;
      // Rejects only when it is no longer wanted.
      await wait(ms, signal).catch(() => undefined);
    }
  }

  /** Reads the messages before those that are shown; false = there are none that could be shown. */
  async loadEarlier(signal?: AbortSignal): Promise<boolean> {
    const page = earlierPage(this.#talk);
    if (page === undefined) return false;
    const { client, sessionId } = this.#options;
    const input = { session_id: sessionId, ...page };
    const found = await client.call("agent.transcript", input, { signal });
    this.#talk = addEarlier(this.#talk, found);
    this.#drawSoon();
    return true;
  }

  async #followOnce(signal: AbortSignal, onShown: () => void): Promise<void> {
    const { client, sessionId: session_id } = this.#options;
    const snapshot = await client.call("agent.snapshot", { session_id }, { signal });
    this.#talk = fromSnapshot(snapshot);
    this.#say("live");
    onShown();
    const since = await this.#readWhole(snapshot, signal);
    for await (const { data } of client.stream("session.events", { session_id, since }, { signal }))
      this.#apply(data);
  }

  /** Where the events that are not known yet begin. */
  async #readWhole({ events_tail }: AgentSnapshot, signal: AbortSignal): Promise<number> {
    if (events_tail > WHOLE_BYTES) return events_tail;
    const { client, sessionId: session_id } = this.#options;
    const input = { session_id, since: 0, follow: false };
    let talk = emptyConversation;
    let since = 0;
    try {
      for await (const { id, data } of client.stream("session.events", input, { signal })) {
        talk = applyEvent(talk, data);
        since = id ?? since;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // The snapshot has told what matters.
      return events_tail;
    }
    // Less than the snapshot told: the log is not whole any more.
    if (talk.total < this.#talk.total) return events_tail;
    this.#talk = talk;
    this.#drawSoon();
    return since;
  }

  #apply(event: AnyEvent): void {
    const next = applyEvent(this.#talk, event);
    if (next === this.#talk) return;
    this.#talk = next;
    this.#drawSoon();
  }

  #say(status: AgentShown["status"], problem?: string): void {
    this.view.set({ status, problem, talk: this.#talk });
  }

  /** However many words come, the page is drawn once a frame. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    const { nextFrame = beforeNextFrame } = this.#options;
    nextFrame(() => {
      this.#isDrawing = false;
      this.view.change((shown) => ({ ...shown, talk: this.#talk }));
    });
  }
}

/** A page that nobody sees has no frames, but its title and its sound still want to know. */
function beforeNextFrame(draw: () => void): void {
  if (document.visibilityState === "hidden") window.setTimeout(draw, HIDDEN_FRAME_MS);
  else window.requestAnimationFrame(draw);
}
