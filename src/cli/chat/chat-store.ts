import { activityOf } from "#contract/agent/agent-status.ts";
import { findQuestion, type Question } from "./asking.ts";
import { markWritten } from "./chat-state.ts";
import { add, type ChatState, note, type Tone } from "./chat-types.ts";
import { emptyTyping, type Situation, showQuestion, type Typing } from "./keys.ts";
import { type Command, listCommands } from "./slash.ts";

/** What is drawn. */
export interface ChatView {
  readonly chat: ChatState;
  readonly typing: Typing;
  readonly now: number;
  /** Requests that have no answer yet. */
  readonly asking: number;
  readonly isViewer: boolean;
}

/** As often as a person can see. */
const FRAME_MS = 30;

/** Holds what is drawn, and says when it is to be drawn again: at once after a key, else a few times a second. */
export class ChatStore implements Disposable {
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  #view: ChatView;
  #frame: NodeJS.Timeout | undefined;

  constructor(chat: ChatState, { isViewer, now }: { isViewer: boolean; now: () => number }) {
    this.#now = now;
    this.#view = { chat, typing: emptyTyping, now: now(), asking: 0, isViewer };
    this.#set({});
  }

  get view(): ChatView {
    return this.#view;
  }

  /** What a key means depends on this. */
  get situation(): Situation {
    const { chat, isViewer } = this.#view;
    const isRunning = activityOf(chat.talk.status) !== "idle" || chat.talk.isCompacting;
    const commands = commandsOf(chat);
    return { question: this.#question(), isRunning, commands, isViewer, now: this.#now() };
  }

  /** As React wants it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  changeChat(change: (chat: ChatState) => ChatState): void {
    this.#set({ chat: change(this.#view.chat) });
    this.#frame ??= setTimeout(() => this.draw(), FRAME_MS);
  }

  changeTyping(change: (typing: Typing) => Typing): void {
    this.#set({ typing: change(this.#view.typing) });
    this.draw();
  }

  note(text: string, tone: Tone = "plain"): void {
    this.changeChat((chat) => add(chat, note(text, tone)));
  }

  asking(change: 1 | -1): void {
    this.#set({ asking: this.#view.asking + change });
    this.draw();
  }

  /** Time goes on for what is under way. */
  tick(): void {
    const { chat, typing, asking } = this.#view;
    if (activityOf(chat.talk.status) === "idle" && typing.draft === undefined && asking === 0)
      return;
    this.#set({});
    this.draw();
  }

  /** So many items are above for good. */
  markWritten(total: number): void {
    this.#set({ chat: markWritten(this.#view.chat, total) });
  }

  draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    for (const listener of [...this.#listeners]) listener();
  }

  #set(change: Partial<ChatView>): void {
    const now = this.#now();
    this.#view = { ...this.#view, ...change, now };
    const typing = showQuestion(this.#view.typing, this.#question(), now);
    this.#view = { ...this.#view, typing };
  }

  #question(): Question | undefined {
    return findQuestion(this.#view.chat);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#frame);
    this.#listeners.clear();
  }
}

/** The slash commands of the agent that speaks now. */
export function commandsOf({ talk: { agents, agent } }: ChatState): readonly Command[] {
  return listCommands(agents.find(({ name }) => name === agent)?.commands ?? {});
}
