import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { type AgentGateway, type BenchAgent, openAgentGateway } from "./agent-gateway.ts";

export interface CrashingAgents {
  readonly agents: number;
  /** The total of all agents. */
  readonly messages: number;
}

export interface CrashingAgentsFacts {
  readonly accepted: number;
  readonly turns: number;
  readonly kills: number;
  readonly seconds: number;
  /** Messages that were accepted and never said. */
  readonly waiting: number;
  readonly wrong: readonly string[];
}

type Kind = "send" | "followUp" | "steer";
const KINDS: readonly Kind[] = ["send", "followUp", "followUp", "steer", "steer"];
/** Between two messages of one agent, and between two kills: about as long as a turn, so that they meet everywhere. */
const SPEAK_MS = 400;
const KILL_MS = 500;
const GATEWAY_EVERY_KILLS = 25;
const SETTLE_MS = 180_000;
const POLL_MS = 250;
const LAST = "the last";
const REFUSALS = ["busy", "nothing_running", "queue_full"];

interface Speaker {
  readonly agent: BenchAgent;
  readonly folder: string;
  readonly accepted: { readonly kind: Kind; readonly text: string }[];
}

/** Agents that are spoken to while their workers, and now and then the gateway, are killed; then they are left alone. */
export async function runCrashingAgents(size: CrashingAgents): Promise<CrashingAgentsFacts> {
  await using dir = openTempDir();
  await using place = await openAgentGateway();
  const started = performance.now();
  const speakers: Speaker[] = [];
  for (let n = 0; n < size.agents; n += 1) {
    const folder = join(dir.path, String(n));
    mkdirSync(folder);
    speakers.push({ agent: await place.createAgent(workingTeam(folder)), folder, accepted: [] });
  }
  const ending = new AbortController();
  const killing = killWorkers(place, speakers, ending.signal);
  const each = Math.ceil(size.messages / size.agents);
  await Promise.all(speakers.map((speaker) => speak(speaker, each)));
  ending.abort();
  const kills = await killing;
  await settle(speakers);
  const waiting = await countWaiting(speakers);
  // A turn that was cut with nothing behind it is ended by the life that the next message brings.
  for (const { agent } of speakers) await insist(agent, "followUp", LAST);
  await settle(speakers);
  const facts = await Promise.all(speakers.map(check));
  return {
    accepted: speakers.reduce((sum, { accepted }) => sum + accepted.length, 0),
    turns: facts.reduce((sum, { turns }) => sum + turns, 0),
    kills,
    seconds: (performance.now() - started) / 1000,
    waiting,
    wrong: facts.flatMap(({ wrong }) => wrong),
  };
}

/** The same call several times in a row would end a turn as a loop, which holds back the messages behind it. */
const VARIANTS = 7;

const sayVariant = (n: number) => `variant ${n % VARIANTS}.`;

/** Each turn runs one command that leaves a line. */
function workingTeam(folder: string): string {
  const steps = Array.from({ length: VARIANTS }, (_, variant) => ({
    when: { last_role: "user", last_user_contains: sayVariant(variant) },
    deltas: ["I ", "work."],
    every_ms: 60,
    tool_calls: [
      { tool: "execute", input: { command: `echo ran ${variant} >> ${join(folder, "ran")}` } },
    ],
    repeat: true,
  }));
  const toolsets = [{ type: "shell" }];
  return JSON.stringify({
    agents: { root: { model: "main", description: "Works.", instruction: "Work.", toolsets } },
    permissions: { allow: ["execute"] },
    models: {
      main: {
        provider: "scripted",
        script: [...steps, { text: "Done.", repeat: true }],
      },
    },
  });
}

async function speak({ agent, accepted }: Speaker, count: number): Promise<void> {
  for (let n = 0; accepted.length < count; n += 1) {
    const kind = KINDS[Math.floor(Math.random() * KINDS.length)] ?? "followUp";
    const text = `${kind} ${n}, ${sayVariant(n)}`;
    if (await insist(agent, kind, text)) accepted.push({ kind, text });
    await sleep(Math.random() * SPEAK_MS);
  }
}

/** Under one key until it is answered; false when it was refused. */
async function insist({ runtime }: BenchAgent, kind: Kind, text: string): Promise<boolean> {
  const messages = [{ content: text }];
  const idempotency_key = `${runtime.session_id} ${text}`;
  for (;;) {
    try {
      if (kind === "send") await runtime.send(messages, idempotency_key);
      else if (kind === "steer") await runtime.steer({ messages, idempotency_key });
      else await runtime.followUp({ messages, idempotency_key });
      return true;
    } catch (error) {
      if (REFUSALS.includes((error as { readonly code?: string }).code ?? "")) return false;
      // The worker or the gateway was killed while it was asked.
      await sleep(POLL_MS);
    }
  }
}

async function killWorkers(
  { client, gateway }: AgentGateway,
  speakers: readonly Speaker[],
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  while (!signal.aborted) {
    await sleep(Math.random() * KILL_MS);
    const speaker = speakers[Math.floor(Math.random() * speakers.length)];
    if (speaker === undefined) continue;
    try {
      const { pid } = await client.call("session.get", { session_id: speaker.agent.session_id });
      if (pid === null) continue;
      process.kill(pid, "SIGKILL");
      kills += 1;
      if (kills % GATEWAY_EVERY_KILLS === 0) await gateway.restart();
    } catch {
      // It ended by itself just now, or the gateway is not back yet.
    }
  }
  return kills;
}

/** No further messages are sent: the agents still take up every accepted one. */
async function settle(speakers: readonly Speaker[]): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  for (const { agent } of speakers)
    while (performance.now() < until) {
      const { activity, queue } = await agent.runtime.snapshot();
      if (activity === "idle" && queue.waiting.length === 0) break;
      await sleep(POLL_MS);
    }
}

async function countWaiting(speakers: readonly Speaker[]): Promise<number> {
  const snapshots = await Promise.all(speakers.map(({ agent }) => agent.runtime.snapshot()));
  return snapshots.reduce((sum, { queue }) => sum + queue.waiting.length, 0);
}

async function check({ agent, folder, accepted }: Speaker) {
  const events: AnyEvent[] = [];
  for await (const { data } of agent.runtime.events({ follow: false })) events.push(data);
  const said = events.flatMap((event) => {
    const [part] = event.type === "message.user" ? event.content : [];
    return part?.type === "text" ? [part.text] : [];
  });
  const started = idsOf(events, "turn.started", "turn_id");
  const ended = idsOf(events, "turn.ended", "turn_id");
  const results = idsOf(events, "tool.result", "call_id");
  const wrong: string[] = [];
  if (said.at(-1) !== LAST) wrong.push("a message came after the last one");
  if (started.join() !== ended.join()) wrong.push("a turn has not ended once");
  if (new Set(results).size !== results.length) wrong.push("a call has two results");
  if (countLines(join(folder, "ran")) > results.length) wrong.push("a command ran twice");
  wrong.push(...checkSaid(said, accepted));
  return {
    turns: started.length,
    wrong: wrong.map((problem) => `${agent.session_id}: ${problem}`),
  };
}

/** A steer may come before follow-ups that were there first; all others come in the order of acceptance. */
function checkSaid(said: readonly string[], accepted: Speaker["accepted"]): string[] {
  const wrong: string[] = [];
  if (new Set(said).size !== said.length) wrong.push("a message came twice");
  for (const [at, { kind, text }] of accepted.entries()) {
    const place = said.indexOf(text);
    if (place === -1) wrong.push(`${text} never came`);
    const before = accepted
      .slice(at + 1)
      .find(
        (later) =>
          !(kind === "followUp" && later.kind === "steer") && said.indexOf(later.text) < place,
      );
    if (before !== undefined) wrong.push(`${before.text} came before ${text}`);
  }
  return wrong;
}

function idsOf(events: readonly AnyEvent[], type: AnyEvent["type"], field: string): string[] {
  return events
    .filter((event) => event.type === type)
    .map((event) => String(Reflect.get(event, field)));
}

function countLines(path: string): number {
  try {
    return readFileSync(path, "utf8").split("\n").length - 1;
  } catch {
    // No command ran.
    return 0;
  }
}
