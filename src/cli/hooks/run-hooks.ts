import { systemClock } from "#base/clock.ts";
import { notice } from "#cli/program/exit.ts";
import type { Session } from "#contract/session.ts";
import type { EventHook } from "./event-hook.ts";

export interface HookedSession {
  readonly session_id: string;
  /** The address of its server; absent = this machine. */
  readonly remote?: string | undefined;
  /** Told from its first event on; an old one only of what happens from now on. */
  readonly isNew: boolean;
}

/** The hooks of a run that this process stays with. Without hooks nothing is loaded and nothing is opened. */
export async function openRunHooks(
  hooks: readonly EventHook[],
  { session_id: named, remote, isNew }: HookedSession,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  if (hooks.length === 0) return stack.move();
  const [{ openEventHooks }, { openClient }, { createRunCommand }, { chooseShell }] =
    await Promise.all([
      import("./event-hooks.ts"),
      import("#cli/target/open-client.ts"),
      import("#agent/hooks/run-command.ts"),
      import("./event-hook.ts"),
    ]);
  // It names a session that was just made or found.
  const session_id = named as Session["session_id"];
  const say = stack.use(openSayer());
  const client = stack.use(await openClient({ remote }));
  const since = isNew ? 0 : (await client.call("session.get", { session_id })).events_tail;
  const env = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const ports = {
    ...{ runCommand: createRunCommand({ clock: systemClock }), clock: systemClock },
    ...{ shell: chooseShell(process.env), cwd: process.cwd(), env: Object.fromEntries(env) },
    say: say.say,
  };
  stack.use(openEventHooks(hooks, { client, session_id, since }, ports));
  return stack.move();
}

/** On a terminal somebody else's screen is being shown, so there it is said at the end. */
function openSayer(): Disposable & { readonly say: (sentence: string) => void } {
  const waiting: string[] = [];
  const isShown = process.stderr.isTTY !== true;
  return {
    say: (sentence) => void (isShown ? notice(sentence) : waiting.push(sentence)),
    [Symbol.dispose]: () => {
      for (const sentence of waiting) notice(sentence);
    },
  };
}
