import { setTimeout as sleep } from "node:timers/promises";
import { findByArgument } from "./process-facts.ts";
import type { TempHost } from "./temp-host.ts";

export interface TreeOptions {
  readonly sessions: number;
  /** How long after the close everything has to be gone. */
  readonly settle_ms?: number;
}

export interface ClosedTrees {
  readonly processes: number;
  readonly close_ms: number;
  /** Still alive when the time was over. */
  readonly left: readonly number[];
  /** What the host itself said that it could not end. */
  readonly survivors: number;
}

const START_MS = 30_000;
const POLL_MS = 50;

/** Every way in which a child may try to outlive its session. Each sleeper carries the word, so that it can be found. */
const sleepers = [
  "nohup sleep WORD >/dev/null 2>&1 &",
  "setsid sleep WORD &",
  "sleep WORD & disown",
  "(sleep WORD &)",
  "(setsid sh -c 'sleep WORD & exit' &)",
  "(trap '' HUP TERM; sleep WORD) &",
  "env -i setsid sleep WORD &",
];

/** Starts the sessions, closes them all at once and looks what is left. */
export async function closeStubbornTrees(
  host: TempHost,
  { sessions, settle_ms = 1000 }: TreeOptions,
): Promise<ClosedTrees> {
  // Unlike any other sleeper of this machine.
  const word = `1000000.${process.pid}${String(Math.random()).slice(2, 8)}`;
  const script = `${sleepers.join("\n").replaceAll("WORD", word)}\nwait; sleep ${word}`;
  const made = await Promise.all(
    Array.from({ length: sessions }, () =>
      host.create({ kind: "terminal", argv: ["bash", "--norc", "-c", script] }),
    ),
  );
  const processes = await waitForSleepers(word, sessions * sleepers.length);
  const started = performance.now();
  const closed = await Promise.all(
    made.map(({ session_id }) => host.client.call("session.close", { session_id })),
  );
  const close_ms = performance.now() - started;
  await sleep(settle_ms);
  const survivors = closed.flatMap(({ state }) =>
    state.kind === "exited" ? (state.survivors ?? []) : [],
  );
  const left = findByArgument(word);
  for (const pid of left) process.kill(pid, "SIGKILL");
  return { processes, close_ms, left, survivors: survivors.length };
}

async function waitForSleepers(word: string, count: number): Promise<number> {
  const until = performance.now() + START_MS;
  for (;;) {
    // The `sh`s that start them carry the word inside a longer argument and so do not count.
    const found = findByArgument(word).length;
    if (found >= count) return found;
    if (performance.now() > until) throw new Error(`${found} of ${count} sleepers are running`);
    await sleep(POLL_MS);
  }
}
