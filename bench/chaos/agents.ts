import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "#bench/chaos-world/world.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { readWholeLog } from "./check-stream.ts";
import { checkEventsSeen, EventsSeen, followEvents } from "./events.ts";

export interface AgentCounts {
  turns: number;
  interrupted: number;
  sent: number;
}

const CREATE_MS = 180_000;
const SEND_MS = 240_000;
const ASK_MS = 8000;
/** After it the next message is sent: it brings a worker back that has died in its turn. */
const TURN_MS = 5000;
const POLL_MS = 200;
const LAST_TURN_MS = 240_000;
/** What a turn may end by when a worker may die in it. */
const ENDS = ["done", "interrupted", "error"];

const TEAM = JSON.stringify({
  agents: {
    root: {
      model: "main",
      description: "Works.",
      instruction: "Work.",
      toolsets: [{ type: "shell" }],
    },
  },
  permissions: { allow: ["execute"] },
  models: {
    main: {
      provider: "scripted",
      script: [
        {
          when: { last_role: "user" },
          text: "one two three four five six seven eight",
          every_ms: 40,
          tool_calls: [
            { tool: "execute", input: { command: "for i in 1 2 3; do echo $i; sleep 0.2; done" } },
          ],
          repeat: true,
        },
        { when: { last_role: "tool" }, text: "it is done now", every_ms: 30, repeat: true },
        { text: "again", repeat: true },
      ],
    },
  },
});

/** One agent that is given work again and again, and at the end a last message that it must answer. */
export async function runAgent(
  world: World,
  {
    name,
    until,
    counts,
  }: { readonly name: string; readonly until: number; readonly counts: AgentCounts },
): Promise<void> {
  const way = name.endsWith("0") ? "proxy" : "direct";
  const backend = openRemoteBackend(world.client(way));
  const runtime = await world.insist(`create agent ${name}`, CREATE_MS, () =>
    backend.create({
      source: { kind: "inline", yaml: TEAM },
      working_dir: join(world.dir, "work"),
      idempotency_key: `${world.run}/agent/${name}`,
    }),
  );
  const { session_id } = runtime;
  world.journal(`agent ${name} is ${session_id}`);
  const ending = new AbortController();
  const seen = new EventsSeen(`agent ${name} events`);
  const { signal } = ending;
  const following = followEvents(world, { session_id, seen, signal, untilExit: false });
  const sent: string[] = [];
  for (let serial = 0; world.now < until; serial += 1) {
    const text = `work ${name}.${serial}`;
    await send(world, runtime, text);
    sent.push(text);
    await waitForEnd(seen, text, TURN_MS);
  }
  const last = `last ${name}`;
  await send(world, runtime, last);
  sent.push(last);
  const isAnswered = await waitForEnd(seen, last, LAST_TURN_MS);
  ending.abort();
  await following;
  if (!isAnswered) world.wrong(`agent ${name} ${session_id}: the last message is not answered`);
  const log = readWholeLog(world.dataDir, session_id, "events");
  const wrong = [
    ...checkEventsSeen(log, seen),
    ...checkTurns(seen, counts),
    ...checkSent(seen, sent),
  ];
  if (log.gaps.length > 0) wrong.push(`its events have gaps: ${JSON.stringify(log.gaps)}`);
  for (const problem of wrong) world.wrong(`agent ${name} ${session_id}: ${problem}`);
  counts.sent += sent.length;
  await world.insist(`close agent ${name}`, CREATE_MS, () =>
    world.client("direct").call("session.close", { session_id, purge: wrong.length === 0 }),
  );
}

/** Under one key until it is taken: busy, dead and unreachable workers are asked again. */
async function send(world: World, runtime: Runtime, text: string): Promise<void> {
  const until = performance.now() + SEND_MS;
  for (;;) {
    try {
      const asked = runtime.send([{ content: text }], `${world.run}/${text}`);
      const answer = await Promise.race([asked, sleep(ASK_MS, "late" as const, { ref: false })]);
      if (answer !== "late") return;
      asked.catch(() => undefined);
      throw new Error(`no answer within ${ASK_MS} ms`);
    } catch (error) {
      world.refused(`send ${text}`, error);
      if (performance.now() > until) throw error;
      await sleep(POLL_MS);
    }
  }
}

/** The turn that was begun by this message, or one that took it up, has ended. */
async function waitForEnd(seen: EventsSeen, text: string, within: number): Promise<boolean> {
  const until = performance.now() + within;
  while (performance.now() < until) {
    const at = seen.items.findIndex(
      ({ data }) => data.type === "message.user" && JSON.stringify(data).includes(text),
    );
    const isEnded = at >= 0 && seen.items.slice(at).some(({ data }) => data.type === "turn.ended");
    if (isEnded) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** Turns follow each other, and each that began has ended once. */
function checkTurns({ items }: EventsSeen, counts: AgentCounts): string[] {
  const wrong: string[] = [];
  let open: string | undefined;
  for (const { data } of items) {
    if (data.type === "turn.started") {
      if (open !== undefined) wrong.push(`turn ${data.turn_id} begins in ${open}`);
      open = data.turn_id;
      counts.turns += 1;
    }
    if (data.type !== "turn.ended") continue;
    const { turn_id, reason } = data;
    if (turn_id !== open) wrong.push(`turn ${turn_id} ends, ${String(open)} is open`);
    if (!ENDS.includes(reason)) wrong.push(`turn ${turn_id} ends by ${reason}`);
    counts.interrupted += reason === "interrupted" ? 1 : 0;
    open = undefined;
  }
  return open === undefined ? wrong : [...wrong, `turn ${open} has not ended`];
}

/** What was taken stands in the log once, in order. */
function checkSent({ items }: EventsSeen, sent: readonly string[]): string[] {
  const said = items
    .filter(({ data }) => data.type === "message.user")
    .flatMap(({ data }) => /(?:work|last) \w+(?:\.\d+)?/.exec(JSON.stringify(data))?.[0] ?? []);
  const isSame = said.length === sent.length && said.every((text, at) => text === sent[at]);
  return isSame ? [] : [`sent ${sent.join(", ")}; in the log ${said.join(", ")}`];
}
