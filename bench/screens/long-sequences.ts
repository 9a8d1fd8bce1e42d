import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { openRawViewers } from "#bench/gateway/raw-viewers.ts";
import { openTempGateway, type TempGateway } from "#bench/gateway/temp-gateway.ts";
import { readMemory } from "#bench/lib/process-facts.ts";

export interface LongSequences {
  readonly wrong: readonly string[];
  /** The most that the gateway and the process that draws have held, in KiB. */
  readonly gateway_kib: number;
  readonly drawing_kib: number;
  /** How long the screen of another session took at most. */
  readonly slowest_ms: number;
}

/** The bytes that begin a string, and those that end it. */
const strings: readonly (readonly [start: string, end: string])[] = [
  ["\\033]0;", "\\007"],
  ["\\033]4;1;", "\\033\\\\"],
  ["\\033P$q", "\\033\\\\"],
  ["\\033_G", "\\033\\\\"],
  ["\\033^", "\\033\\\\"],
];
const VIEWERS = 3;
const POLL_MS = 50;
const LONGEST_MS = 120_000;

/** Terminals that print one sequence of many megabytes, watched while they do. */
export async function runLongSequences({
  rounds,
  bytes,
}: {
  readonly rounds: number;
  readonly bytes: number;
}): Promise<LongSequences> {
  await using gateway = await openTempGateway();
  await using viewers = await openRawViewers(gateway);
  const found = { wrong: [] as string[], gateway_kib: 0, drawing_kib: 0, slowest_ms: 0 };
  const { pid } = gateway;
  const other = await gateway.create(terminalOf("printf other"));
  for (let round = 0; round < rounds; round += 1) {
    const [start, end] = strings[round % strings.length] ?? ["", ""];
    const print = `printf '${start}'; head -c ${bytes} /dev/zero | tr '\\0' T; printf '${end}after'`;
    const sessionId = await gateway.create(terminalOf(print));
    await viewers.open(sessionId, VIEWERS, "paint=1");
    const line = await firstLine(gateway, sessionId, "after");
    if (line !== "after") found.wrong.push(`round ${round} shows ${line.slice(0, 100)}`);
    const asked = performance.now();
    const beside = await firstLine(gateway, other, "other");
    found.slowest_ms = Math.max(found.slowest_ms, performance.now() - asked);
    if (beside !== "other") found.wrong.push(`round ${round}: the other shows ${beside}`);
    found.gateway_kib = Math.max(found.gateway_kib, readMemory(pid).rss_kib);
    for (const child of childrenOf(pid))
      found.drawing_kib = Math.max(found.drawing_kib, readMemory(child).rss_kib);
    await viewers.close();
    await gateway.remove(sessionId);
  }
  return found;
}

function terminalOf(print: string) {
  return { kind: "terminal" as const, argv: ["sh", "-c", `${print}; exec sleep 1000`] };
}

/** The screen's first line, as soon as it is the wanted one; after a long time, the line that is there. */
async function firstLine(gateway: TempGateway, sessionId: string, wanted: string): Promise<string> {
  const headers = { Authorization: `Bearer ${gateway.token}` };
  const until = performance.now() + LONGEST_MS;
  for (;;) {
    const answer = await fetch(`${gateway.url}/v1/sessions/${sessionId}/screen`, { headers });
    const text = await answer.text();
    const line = answer.ok ? String(JSON.parse(text).lines[0]) : text;
    if (line === wanted || !answer.ok || performance.now() > until) return line;
    await sleep(POLL_MS);
  }
}

function childrenOf(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
  return listed.trim() === "" ? [] : listed.trim().split(" ").map(Number);
}
