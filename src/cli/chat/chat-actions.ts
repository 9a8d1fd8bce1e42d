import { randomUUID } from "node:crypto";
import { activityOf } from "#contract/agent/agent-status.ts";
import { asFault } from "#contract/fault.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import type { Session } from "#contract/session.ts";
import { toggleUnfolded } from "./chat-state.ts";
import type { ChatStore } from "./chat-store.ts";
import { giveBack, type Intent } from "./keys.ts";
import { describeAgents, describeModels, describeSessions, describeTools } from "./lists.ts";
import { describeHelp, parseSlash, type SlashName } from "./slash.ts";

export interface ActionParts {
  readonly runtime: Runtime;
  readonly store: ChatStore;
  readonly listSessions: () => Promise<readonly Session[]>;
  readonly leave: () => void;
}

/** Does what somebody at the keyboard wants; what goes wrong is said in the view. */
export class ChatActions {
  readonly #parts: ActionParts;
  /** Messages arrive in the order in which they were sent. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  perform(intent: Intent): void {
    const { runtime, store, leave } = this.#parts;
    switch (intent.kind) {
      case "say":
        this.#say(intent.text);
        break;
      case "followup":
        this.#send(intent.text, ["followup"]);
        break;
      case "interrupt":
        this.#try(() => runtime.interrupt());
        break;
      case "resume":
        this.#try(() => runtime.resume(intent.answer));
        break;
      case "answer":
        this.#try(() => runtime.answerElicitation(intent.answer));
        break;
      case "unfold":
        store.changeChat(toggleUnfolded);
        break;
      case "hint":
        store.note(intent.text);
        break;
      case "leave":
        leave();
        break;
    }
  }

  #say(text: string): void {
    const { store } = this.#parts;
    const { talk } = store.view.chat;
    const slash = parseSlash(text, Object.keys(this.#ownCommands()));
    if (slash?.kind === "unknown") {
      store.note(`there is no /${slash.name}; /help lists what there is`, "error");
      return;
    }
    if (slash !== undefined) {
      this.#run(slash.name, slash.rest);
      return;
    }
    const isIdle = activityOf(talk.status) === "idle";
    this.#send(text, isIdle ? ["message", "steer", "followup"] : ["steer", "message", "followup"]);
  }

  #run(name: SlashName, rest: string): void {
    const { runtime, store, leave, listSessions } = this.#parts;
    const show = (list: () => Promise<string>) => this.#try(async () => store.note(await list()));
    const ways: Readonly<Record<SlashName, () => void>> = {
      help: () => store.note(describeHelp(this.#ownCommands())),
      detach: leave,
      tools: () => show(async () => describeTools(await runtime.tools(), await runtime.toolsets())),
      sessions: () => show(async () => describeSessions(await listSessions(), runtime.session_id)),
      compact: () => this.#try(() => runtime.summarize(rest === "" ? undefined : rest)),
      followup: () => this.#followUp(rest),
      model: () => {
        if (rest === "") show(async () => describeModels(await runtime.models()));
        else this.#try(() => runtime.setModel({ model: rest }));
      },
      agent: () => {
        const { agents, agent } = store.view.chat.talk;
        if (rest === "") store.note(describeAgents(agents, agent));
        else this.#try(() => runtime.setCurrentAgent(rest));
      },
    };
    ways[name]();
  }

  #followUp(text: string): void {
    const { store } = this.#parts;
    const slash = parseSlash(text, Object.keys(this.#ownCommands()));
    if (text === "") store.note("say what is to follow: /followup TEXT", "error");
    else if (slash !== undefined)
      store.note(`/${slash.name} is not a command of the agent, so it cannot follow`, "error");
    else this.#send(text, ["followup"]);
  }

  #ownCommands(): Readonly<Record<string, string>> {
    const { agents, agent } = this.#parts.store.view.chat.talk;
    return agents.find(({ name }) => name === agent)?.commands ?? {};
  }

  /** The first way that is open: a turn may begin or end while we decide. */
  #send(text: string, ways: readonly Way[]): void {
    const { store } = this.#parts;
    const key = randomUUID();
    this.#last = this.#last.then(() =>
      this.#ask(async () => {
        try {
          await this.#deliver(text, ways, key);
        } catch (error) {
          store.changeTyping((typing) => giveBack(typing, text));
          throw error;
        }
      }),
    );
  }

  async #deliver(text: string, ways: readonly Way[], idempotency_key: string): Promise<void> {
    const { runtime } = this.#parts;
    const messages = [{ content: text }];
    const [way, ...others] = ways;
    try {
      if (way === "message") await runtime.send(messages, idempotency_key);
      else if (way === "steer") await runtime.steer({ messages, idempotency_key });
      else await runtime.followUp({ messages, idempotency_key });
    } catch (error) {
      const { code } = asFault(error);
      if (others.length === 0 || (code !== "busy" && code !== "nothing_running")) throw error;
      await this.#deliver(text, others, idempotency_key);
    }
  }

  #try(work: () => Promise<unknown>): void {
    void this.#ask(work);
  }

  async #ask(work: () => Promise<unknown>): Promise<void> {
    const { store } = this.#parts;
    store.asking(1);
    try {
      await work();
    } catch (error) {
      const { code, message } = asFault(error);
      // Somebody else has answered, or the turn has ended.
      if (code !== "nothing_pending") store.note(message, "error");
    } finally {
      store.asking(-1);
    }
  }
}

type Way = "message" | "steer" | "followup";
