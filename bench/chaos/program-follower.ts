import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findTarget, type Mortal, type Target } from "#bench/chaos-world/processes.ts";
import type { World } from "#bench/chaos-world/world.ts";
import { owned } from "#bench/lib/owned.ts";
import type { Session } from "#contract/session.ts";
import type { Recorder } from "./recorder.ts";

/** How a program of its own follows a session: by the typed client, `reins logs`, or `reins attach` in a pipeline. */
export type ProgramKind = "client" | "logs" | "attach";

export interface ProgramFollow {
  readonly kind: ProgramKind;
  readonly session_id: string;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

const script = fileURLToPath(new URL("./follower-program.ts", import.meta.url));
const AGAIN_MS = 100;
const LOOK_MS = 180_000;

/** Lives until the session has ended, however often it is killed: each life goes on at the byte behind the last. */
export async function followByProgram(world: World, follow: ProgramFollow): Promise<void> {
  const { kind, session_id, recorder, signal } = follow;
  const file = join(world.dir, "seen", `${recorder.name.replaceAll(" ", "-")}`);
  for (let life = 1; !signal.aborted; life += 1) {
    const path = `${file}.${life}`;
    const ended = await liveOnce(world, follow, path);
    const written = readFileSync(path);
    if (kind === "attach") takeRaw(recorder, written);
    else takeFrames(recorder, written);
    rmSync(path);
    const isOver = await hasEnded(world, follow, ended);
    if (isOver) return;
    world.journal(`${recorder.name} ended by ${String(ended.code ?? ended.signal)} ${ended.said}`);
    await sleep(AGAIN_MS);
  }
  world.journal(`${recorder.name} gave up on ${session_id}`);
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly said: string;
}

async function liveOnce(world: World, follow: ProgramFollow, path: string): Promise<Ended> {
  const out = openSync(path, "a");
  const child = spawn(process.execPath, wordsOf(world, follow, path), {
    env: { ...process.env, REINS_HOME: world.dataDir, HOME: join(world.dir, "work") },
    stdio: ["ignore", out, "pipe"],
  });
  closeSync(out);
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(0, 500);
  });
  const kill = () => child.kill("SIGKILL");
  follow.signal.addEventListener("abort", kill);
  await using _child = owned(() => void kill());
  const mortal: Mortal = { target: () => targetOf(child) };
  world.programs.add(mortal);
  const [code, signal] = await once(child, "close");
  world.programs.delete(mortal);
  follow.signal.removeEventListener("abort", kill);
  return { code, signal, said: said.trim() };
}

function targetOf(child: ChildProcess): Target | undefined {
  const isRunning = child.exitCode === null && child.signalCode === null;
  return isRunning && child.pid !== undefined ? findTarget(child.pid) : undefined;
}

function wordsOf(world: World, follow: ProgramFollow, path: string): string[] {
  const { kind, session_id, recorder } = follow;
  const since = String(recorder.next);
  if (kind === "client")
    return [script, world.urlOf("proxy"), world.token, session_id, since, path, world.run];
  const how = kind === "logs" ? ["logs", "-f", "--json"] : ["attach"];
  return [world.reins, ...how, "--since", since, session_id];
}

/** What a life wrote; of a line that death cut short nothing counts. */
function takeFrames(recorder: Recorder, written: Buffer): void {
  const text = written.toString("utf8");
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    if (line === "") continue;
    const frame = JSON.parse(line);
    if (frame.type === "gap") recorder.gap(frame);
    else if (frame.type === "exit") recorder.exit(frame);
    else {
      const { type: channel, offset, data, encoding } = frame;
      recorder.piece({ channel, offset, bytes: Buffer.from(data, encoding) });
    }
  }
}

function takeRaw(recorder: Recorder, bytes: Buffer): void {
  if (bytes.length > 0) recorder.piece({ channel: undefined, offset: recorder.next, bytes });
}

/** A program that ended by itself has seen the end only if the session says so too. */
async function hasEnded(world: World, follow: ProgramFollow, ended: Ended): Promise<boolean> {
  const { kind, recorder, session_id, signal } = follow;
  if (recorder.end !== undefined || signal.aborted) return true;
  // Raw bytes do not say where the missing ones belong: from here on nothing can be compared.
  if (kind === "attach" && ended.said.includes("no longer kept")) return true;
  if (kind === "client" || ended.code === null) return false;
  const session = await world.insist(`look at ${session_id}`, LOOK_MS, () =>
    world.client("direct").call("session.get", { session_id }),
  );
  if (kind === "logs") return session.state.kind === "lost" && ended.code === 0;
  return judgeAttach(recorder, session, ended);
}

function judgeAttach(recorder: Recorder, { state, tail }: Session, ended: Ended): boolean {
  // Its host may have gone before the first byte was read; what it printed can be had all the same.
  if (state.kind === "lost") return recorder.next >= tail;
  if (state.kind !== "exited" || recorder.next < state.tail) return false;
  if (ended.code !== state.exit_code) {
    if (ended.said === "")
      recorder.problems.push(`${recorder.name}: its exit code is ${ended.code}`);
    return false;
  }
  recorder.exit({ exit_code: ended.code, reason: state.reason, tail: undefined });
  return true;
}
