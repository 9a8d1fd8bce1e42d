import { constants } from "node:os";
import { ChatActions } from "#cli/chat/chat-actions.ts";
import { applyEvent, openChat } from "#cli/chat/chat-state.ts";
import { ChatStore } from "#cli/chat/chat-store.ts";
import { press } from "#cli/chat/keys.ts";
import { type Ending, openLeaving } from "#cli/chat/leaving.ts";
import { notice } from "#cli/program/exit.ts";
import { isResumable } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import type { Session } from "#contract/session.ts";

export interface ChatOptions {
  readonly runtime: Runtime;
  readonly listSessions: () => Promise<readonly Session[]>;
  /** Only watches. */
  readonly isViewer?: boolean;
  /** What names the session to another command; absent = its id. */
  readonly name?: string;
  /** Of a session that may have ended for good: then it is shown, and left. */
  readonly state?: Session["state"];
}

const TICK_MS = 250;

/** A terminal that is a person's and can be drawn on. */
export function canChat(): boolean {
  const { TERM: term } = process.env;
  return process.stdin.isTTY && process.stdout.isTTY && term !== "dumb";
}

/** The chat view of an agent session, until somebody leaves or the session has ended. The session goes on without it. */
export async function runChat(options: ChatOptions): Promise<number> {
  const { runtime, isViewer = false, state, name = runtime.session_id } = options;
  const snapshot = await runtime.snapshot();
  const { showChat } = await loadApp();
  using stack = new DisposableStack();
  const now = () => Date.now();
  const chat = { ...openChat(snapshot), ended: findEnd(state) };
  const store = stack.use(new ChatStore(chat, { isViewer, now }));
  const leaving = stack.use(openLeaving());
  const leave = () => leaving.leave({ kind: "detached" });
  const actions = new ChatActions({ ...options, store, leave });
  const shown = showChat({
    store,
    hasColours: hasColours(),
    onPress: (key) => {
      const { typing, intent } = press(store.view.typing, key, store.situation);
      store.changeTyping(() => typing);
      if (intent !== undefined) actions.perform(intent);
    },
  });
  stack.use(tickWhile(store));
  void follow(runtime, store, { since: snapshot.events_tail, signal: leaving.signal }).then(
    leaving.leave,
    (error: unknown) => leaving.leave({ kind: "failed", error }),
  );
  const ending = await untilLeft(shown.failed, leaving.left);
  await shown.close();
  return report(ending, { session_id: runtime.session_id, name });
}

function findEnd(state: ChatOptions["state"]): string | undefined {
  if (state?.kind !== "exited" && state?.kind !== "lost") return undefined;
  return isResumable({ kind: "agent", state }) ? undefined : state.reason;
}

async function follow(
  runtime: Runtime,
  store: ChatStore,
  from: { readonly since: number; readonly signal: AbortSignal },
): Promise<Ending> {
  for await (const { data } of runtime.events(from))
    store.changeChat((chat) => applyEvent(chat, data));
  const { ended } = store.view.chat;
  return ended === undefined ? { kind: "host_gone" } : { kind: "ended", reason: ended };
}

/** A view that cannot be drawn any more is a mistake of ours. */
async function untilLeft(shown: Promise<unknown>, left: Promise<Ending>): Promise<Ending> {
  const failed = shown.then(
    (): Ending => ({ kind: "detached" }),
    (error: unknown): Ending => ({ kind: "failed", error }),
  );
  return await Promise.race([left, failed]);
}

interface Shown {
  readonly session_id: string;
  readonly name: string;
}

function report(ending: Ending, { session_id, name }: Shown): number {
  switch (ending.kind) {
    case "failed":
      throw ending.error;
    case "host_gone":
      throw new Fault("host_unavailable", `the host has gone away; reins attach ${name} goes on`);
    case "ended":
      notice(`${session_id} has ended: ${ending.reason}`);
      return 0;
    case "detached":
    case "signalled":
      notice(`left; ${session_id} goes on, and reins attach ${name} comes back`);
      return ending.kind === "signalled" ? 128 + constants.signals[ending.signal] : 0;
  }
}

function tickWhile(store: ChatStore): Disposable {
  const timer = setInterval(() => store.tick(), TICK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** See no-color.org. */
function hasColours(): boolean {
  const { NO_COLOR: no } = process.env;
  return no === undefined || no === "";
}

/** What React, Ink and its colours look for once, when they are loaded: `canChat` has already seen that a person is here. */
const WHILE_LOADING: Readonly<Record<string, string | undefined>> = {
  NODE_ENV: "production",
  CI: undefined,
  CONTINUOUS_INTEGRATION: undefined,
};

/** What we start later must see the environment as it was. */
async function loadApp() {
  const before = Object.keys(WHILE_LOADING).map((name) => [name, process.env[name]] as const);
  setEnvironment(Object.entries(WHILE_LOADING));
  try {
    return await import("./chat-app.ts");
  } finally {
    setEnvironment(before);
  }
}

function setEnvironment(entries: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of entries) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
