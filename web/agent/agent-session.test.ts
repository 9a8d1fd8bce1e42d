import { describe, expect, test } from "vitest";
import type { Client } from "#client/client.ts";
import type { AgentSnapshot, Transcript } from "#contract/agent/views.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import { AgentSession } from "./agent-session.ts";

// Ids are branded, and this one is well formed.
const ID = "ses_0000000000000001" as AgentSnapshot["session_id"];
const AT = "2026-01-01T00:00:00.000Z";
const FEW = 1000;
const MANY = 10 * 1024 * 1024;

/** An event as the log has it; its id is the place behind it. */
const said = (text: string): AnyEvent => ({
  ...{ type: "message.user", at: AT, session_id: ID, message_id: text, origin: "message" },
  content: [{ type: "text", text }],
});
const warned = (message: string): AnyEvent => ({
  ...{ type: "warning", at: AT, session_id: ID, code: "x", message },
});

/** A server with one session: its log, and how many bytes it claims to have. */
class Server {
  readonly log: AnyEvent[] = [];
  readonly asked: string[] = [];
  tail = FEW;
  /** What the next questions fail with. */
  faults: Fault[] = [];
  omitted = 0;

  readonly client = {
    call: async (name: string, input: { from?: number; limit?: number }) => {
      this.asked.push(name);
      const fault = this.faults.shift();
      if (fault !== undefined) throw fault;
      return name === "agent.transcript" ? this.#page(input) : this.#snapshot();
    },
    stream: (_: string, { since, follow }: { since: number; follow?: boolean }) =>
      this.#events(since, follow !== false),
    // As much of a client as a session needs.
  } as unknown as Pick<Client, "call" | "stream">;

  #messages() {
    return this.log.flatMap((event) =>
      event.type === "message.user"
        ? [{ role: "user" as const, ...event, message_id: event.message_id }]
        : [],
    );
  }

  #page({ from = 0, limit = 0 }): Transcript {
    const messages = this.#messages();
    const page = messages.slice(from, from + limit);
    return { title: "", messages: page, position: from, total: messages.length };
  }

  #snapshot(): AgentSnapshot {
    const messages = this.#messages();
    return {
      ...{ session_id: ID, title: "", life: 1, activity: "idle", turn_id: null },
      ...{ agent: "root", model: "m", model_overrides: {}, default_agent: "root", agents: [] },
      ...{ team_name: "", work_dir: "/", partial: null, approvals: [], elicitations: [] },
      transcript: messages.slice(this.omitted),
      omitted_messages: this.omitted,
      queue: {
        steer: { depth: 0, capacity: 5 },
        followup: { depth: 0, capacity: 20 },
        waiting: [],
      },
      permissions: { team: {}, session: {}, safety: "balanced" },
      limits: {},
      usage: { input_tokens: 0, output_tokens: 0, cost: 0 },
      ...{ context_tokens: 0, context_limit: null, events_tail: this.tail },
    };
  }

  async *#events(since: number, follow: boolean) {
    this.asked.push(`events from ${since}${follow ? "" : " to the end"}`);
    // Each event is as long as one, and the log begins where the rest of the tail would end.
    const from = since === this.tail ? this.log.length : since;
    for (const [at, data] of this.log.entries()) if (at >= from) yield { id: at + 1, data };
  }
}

/** Follows until it has asked to wait before another try `rounds` times. */
async function follow(server: Server, rounds = 1) {
  const ending = new AbortController();
  const session = new AgentSession({
    client: server.client,
    sessionId: ID,
    nextFrame: (draw) => draw(),
    pause: async () => {
      rounds -= 1;
      if (rounds === 0) ending.abort();
    },
  });
  await session.follow(ending.signal);
  return session;
}

const words = (session: AgentSession) =>
  session.view.get().talk.main.items.map((item) => ("text" in item ? `(${item.text})` : item.key));

describe("an agent's session in the page", () => {
  test("a short history is read from its first event on, which tells more than a snapshot", async () => {
    const server = new Server();
    server.log.push(said("one"), warned("careful"), said("two"));
    const session = await follow(server);
    expect(words(session)).toEqual(["one", "(careful)", "two"]);
    expect(server.asked).toEqual(["agent.snapshot", "events from 0 to the end", "events from 3"]);
  });

  test("a long history begins with its snapshot", async () => {
    const server = new Server();
    server.tail = MANY;
    server.log.push(said("one"), warned("careful"), said("two"));
    const session = await follow(server);
    expect(words(session)).toEqual(["one", "two"]);
    expect(server.asked).toEqual(["agent.snapshot", `events from ${MANY}`]);
  });

  test("after a cut it begins anew, and nothing is there twice", async () => {
    const server = new Server();
    server.log.push(said("one"), said("two"));
    const session = await follow(server, 3);
    expect(words(session)).toEqual(["one", "two"]);
  });

  test("a server that is away keeps what was known, and it goes on by itself", async () => {
    const server = new Server();
    server.log.push(said("one"));
    const seen: string[] = [];
    const ending = new AbortController();
    const session = new AgentSession({
      client: server.client,
      sessionId: ID,
      nextFrame: (draw) => draw(),
      pause: async () => {
        seen.push(session.view.get().status, words(session).join());
        server.faults = seen.length === 2 ? [new Fault("host_unavailable", "away")] : [];
        if (seen.length === 6) ending.abort();
      },
    });
    await session.follow(ending.signal);
    expect(seen).toEqual(["live", "one", "away", "one", "live", "one"]);
  });

  test.each(["session_not_found", "unsupported", "forbidden"] as const)(
    "%s is said, and not asked again",
    async (code) => {
      const server = new Server();
      server.faults = [new Fault(code, "it is not so")];
      const session = await follow(server, 5);
      expect(session.view.get()).toMatchObject({ status: "failed", problem: "it is not so" });
      expect(server.asked).toEqual(["agent.snapshot"]);
    },
  );

  test("a session that is signed out is not asked for again", async () => {
    const server = new Server();
    server.faults = [new Fault("unauthenticated", "no")];
    await follow(server, 5);
    expect(server.asked).toEqual(["agent.snapshot"]);
  });

  test("earlier messages are read when somebody asks for them", async () => {
    const server = new Server();
    server.tail = MANY;
    server.omitted = 150;
    server.log.push(...Array.from({ length: 200 }, (_, at) => said(`m${at}`)));
    const session = await follow(server);
    expect(words(session)[0]).toBe("m150");
    expect(await session.loadEarlier()).toBe(true);
    expect(words(session)[0]).toBe("m50");
    expect(await session.loadEarlier()).toBe(true);
    expect(words(session)).toEqual(Array.from({ length: 200 }, (_, at) => `m${at}`));
    expect(await session.loadEarlier()).toBe(false);
  });

  test("however much comes at once, it is drawn once", async () => {
    const server = new Server();
    server.tail = MANY;
    const frames: (() => void)[] = [];
    const ending = new AbortController();
    const session = new AgentSession({
      client: {
        call: server.client.call,
        // As above.
        stream: async function* () {
          for (let at = 0; at < 50; at += 1) yield { id: at, data: said(`m${at}`) };
        } as never,
      },
      sessionId: ID,
      nextFrame: (draw) => void frames.push(draw),
      pause: async () => ending.abort(),
    });
    await session.follow(ending.signal);
    expect(frames.length).toBe(1);
    frames[0]?.();
    expect(words(session).length).toBe(50);
  });
});
