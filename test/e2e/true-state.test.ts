import { cpSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { Session } from "#contract/session.ts";
import { LONG_MS, SLOW_MS } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost } from "#test/harness/host.ts";
import { isAlive } from "#test/harness/processes.ts";
import { repeats } from "#test/harness/repeats.ts";
import { openResident } from "#test/harness/resident.ts";
import { say } from "#test/harness/runtimes.ts";
import { STATE_TEAM } from "#test/harness/state-team.ts";

/** What every surface says about a session equals what its processes and the model's own log say. */

type Seen = Pick<Session, "status" | "needs" | "last_line" | "state" | "pid" | "name">;

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const gateway = stack.use(await openTestGateway({ flags: { agent_idle_ms: 300 } }));
  const { dataDir } = gateway.host;
  const client = createClient({ url: gateway.url, token: gateway.token });
  const heard = followEvents(gateway, stack);
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const env = { ...process.env, XDG_CACHE_HOME: cache, REINS_HOME: dataDir };
  const resident = stack.use(openResident(env, dataDir));
  // The typed client retries while the host is away.
  const list = async (session_id: string) =>
    (await client.call("session.list", { limit: 1000 })).sessions.find(
      (session) => session.session_id === session_id,
    );
  const ps = async (session_id: string): Promise<Seen | undefined> => {
    const { stdout } = await resident.run(["ps", "-a", "--json"]);
    const { sessions }: { sessions: Session[] } = JSON.parse(stdout);
    return sessions.find((session) => session.session_id === session_id);
  };
  /** Everything that can be known of a session, if nothing changed while it was looked at: an agent goes to sleep by itself. */
  const look = async (session_id: string, status: Session["status"]) => {
    const listed = await list(session_id);
    if (listed?.status !== status) return undefined;
    // The stream is behind the list by as much as the event takes.
    if (!isDeepStrictEqual(stateOf(heard.get(session_id)), stateOf(listed))) return undefined;
    const questions = openQuestions(dataDir, session_id);
    const hasProcess = listed.pid !== null && isAlive(listed.pid);
    const printed = await ps(session_id);
    const isSame = isDeepStrictEqual(stateOf(await list(session_id)), stateOf(listed));
    return isSame ? { listed, questions, hasProcess, printed } : undefined;
  };
  /** All three say the same. */
  const agree = async (session_id: string, status: Session["status"]): Promise<Seen> => {
    const { listed, questions, hasProcess, printed } = await waitFor(
      `list and events say ${status}`,
      () => look(session_id, status),
      { timeout: LONG_MS },
    );
    expect(stateOf(printed)).toEqual(stateOf(listed));
    expect(listed.needs.map(({ id }) => id)).toEqual(questions);
    expect(hasProcess).toBe(isLive(listed));
    return listed;
  };
  const backend = openRemoteBackend(client);
  const createAgent = async () =>
    await backend.create({ source: STATE_TEAM, working_dir: dataDir });
  const owned = stack.move();
  return {
    gateway,
    dataDir,
    agree,
    createAgent,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The newest of each session for a client of `GET /v1/events`, which lists once after each `ready`. */
function followEvents(gateway: TestGateway, stack: AsyncDisposableStack): Map<string, Session> {
  const heard = new Map<string, Session>();
  const ending = new AbortController();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const following = (async () => {
    const { signal } = ending;
    for await (const { data } of client.stream("sessions.watch", {}, { signal }))
      if ("session" in data) heard.set(data.session.session_id, data.session);
      else if (data.type === "ready") {
        const { sessions } = await client.call("session.list", { limit: 1000 }, { signal });
        for (const session of sessions) heard.set(session.session_id, session);
      }
  })().catch(() => undefined);
  stack.defer(async () => {
    ending.abort();
    await following;
  });
  return heard;
}

/** From the log itself: what was asked, not answered, and not cut off. */
function openQuestions(dataDir: string, session_id: string): string[] {
  const path = join(dataDir, "sessions", session_id, "events", "0000000000000000");
  const open = new Set<string>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue;
    const event = JSON.parse(line);
    if (event.type === "approval.requested") open.add(event.approval_id);
    else if (event.type === "approval.resolved") open.delete(event.approval_id);
    else if (event.type === "turn.ended") open.clear();
    else if (event.type === "session.exited" && event.state.exit_code !== 0) open.clear();
  }
  return [...open];
}

function stateOf(session: Seen | undefined) {
  return session && { status: session.status, needs: session.needs, state: session.state };
}

function isLive({ state }: Seen): boolean {
  return state.kind === "starting" || state.kind === "running";
}

test("list, events and ps agree with the processes and the log at every step of an agent", {
  timeout: SLOW_MS,
}, async () => {
  await using world = await openWorld();
  const { gateway, agree } = world;
  const runtime = await world.createAgent();
  const { session_id } = runtime;
  const known = async () => await gateway.get("session.get", { session_id: session_id as never });
  await agree(session_id, "sleeping");
  await runtime.send(say("slow"));
  const working = await agree(session_id, "working");
  expect(working.pid).not.toBeNull();
  await runtime.interrupt();
  await agree(session_id, "sleeping");

  await runtime.send(say("file"));
  const asking = await agree(session_id, "needs_you");
  expect(asking).toMatchObject({
    last_line: "asks: write_file a.txt",
    needs: [{ kind: "approval", summary: "write_file a.txt" }],
  });
  await waitFor("it sleeps", async () => (await known()).state.kind === "exited");
  const slept = await agree(session_id, "needs_you");
  expect(slept).toMatchObject({ pid: null, needs: asking.needs });
  await runtime.resume({ approval_id: asking.needs[0]?.id ?? "", decision: "approve" });
  expect((await agree(session_id, "sleeping")).last_line).toBe("Done with it.");

  await runtime.send(say("fail"));
  expect((await agree(session_id, "sleeping")).last_line).toContain("I refuse.");

  await runtime.send(say("slow"));
  const { pid } = await agree(session_id, "working");
  process.kill(pid ?? 0, "SIGKILL");
  const crashed = await agree(session_id, "ended");
  expect(crashed).toMatchObject({ state: { kind: "exited", signal: "SIGKILL" }, pid: null });

  await runtime.send(say("slow"));
  await agree(session_id, "working");
  await gateway.host.kill("SIGKILL");
  expect(await agree(session_id, "ended")).toMatchObject({ state: { kind: "lost" } });
});

test("a command is running as soon as it runs, and ended when it has ended", {
  timeout: SLOW_MS,
}, async () => {
  await using world = await openWorld();
  const { gateway, agree } = world;
  const create = { kind: "command", argv: ["sh", "-c", "echo ready; read line; exit 3"] } as const;
  const { session_id } = await gateway.get("session.create", {
    ...{ ...create, argv: [...create.argv], stdin: true, name: "build" },
  });
  const running = await agree(session_id, "running");
  expect(running.name).toBe("build");
  const again = { kind: "command", argv: ["true"], name: "build" } as const;
  const refused = await gateway.call("session.create", { ...again, argv: [...again.argv] });
  expect([refused.status, refused.body.error?.code]).toEqual([409, "conflict"]);
  await gateway.get("session.input", { session_id, data: "\n" });
  const ended = await agree(session_id, "ended");
  expect(ended).toMatchObject({ state: { exit_code: 3 }, last_line: "ready" });
});

const SESSIONS = repeats({ few: 100, full: 1000 });
const LOG_BYTES = 1024 * 1024;
const PAGE = 1000;

test("a gateway that starts reads no events log, however many agents there are", {
  timeout: SLOW_MS,
}, async () => {
  await using host = await openTestHost();
  const { session_id } = await host.create({ kind: "agent", argv: ["/bin/cat"] });
  const asked = { type: "approval.requested", approval_id: "a", kind: "tool", message: "May I?" };
  const data_b64 = Buffer.from(`${JSON.stringify(asked)}\n`).toString("base64");
  await host.client.call("session.input", { session_id, data_b64, eof: true });
  await waitFor("it sleeps", async () => {
    const { state } = await host.client.call("session.get", { session_id });
    return state.kind === "exited" && state.final;
  });
  const { dataDir, sessions } = host;
  await host.kill("SIGKILL");
  const record = JSON.parse(readFileSync(join(sessions, session_id, "session.json"), "utf8"));
  for (let n = 0; n < SESSIONS; n += 1) {
    const id = `ses_${String(n).padStart(16, "0")}`;
    const dir = join(sessions, id);
    cpSync(join(sessions, session_id), dir, { recursive: true });
    truncateSync(join(dir, "events", "0000000000000000"), LOG_BYTES);
    const agent_status = { ...record.agent_status, read: LOG_BYTES };
    const copy = { ...record, session_id: id, events_tail: LOG_BYTES, agent_status };
    writeFileSync(join(dir, "session.json"), JSON.stringify(copy));
  }
  await using _next = await openTestHost({ dataDir });
  await using gateway = await openGatewayProcess({ dataDir });
  const page = await gateway.door.get("session.list", { limit: PAGE, kind: "agent" });
  expect(page.sessions.filter(({ status }) => status === "needs_you")).toHaveLength(
    Math.min(PAGE, SESSIONS + 1),
  );
  const events = await gateway.door.fetch("/v1/events");
  const reader = events.body?.getReader();
  let text = "";
  while (!text.includes("session.needs_answer"))
    text += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  const read = /rchar: (\d+)/.exec(readFileSync(`/proc/${gateway.pid}/io`, "utf8"))?.[1];
  // A tenth of the logs: the program itself, the records and the answers of the host are a small part of it.
  expect(Number(read)).toBeLessThan((SESSIONS * LOG_BYTES) / 10);
});
