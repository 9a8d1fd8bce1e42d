import type { Door } from "#test/harness/gateway.ts";
import { type Refused, refusalOf, type TestSocket } from "#test/harness/socket.ts";

export interface ExecdRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** A door as a client of the execd API uses it. */
export interface ExecdDoor {
  /** JSON, whatever the status. */
  ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }>;
  createSession(body?: object): Promise<string>;
  attach(id: string, query?: string): Promise<TestSocket>;
  /** Of an attach that must not succeed. */
  refusal(id: string, query?: string): Promise<ExecdRefusal>;
  /** The events of a stream, parsed, each with its id. */
  events(path: string, body: object): Promise<ExecdEventLine[]>;
}

export interface ExecdEventLine {
  readonly id: string | undefined;
  readonly data: { readonly type: string } & Record<string, unknown>;
}

export function openExecdDoor(door: Door): ExecdDoor {
  const post = (path: string, body: object) =>
    door.fetch(path, { method: "POST", body: JSON.stringify(body) });
  const attach = (id: string, query = "") => door.socket(`/ws/session/${id}${query}`);
  return {
    ask: async (method, path, body) => {
      const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await door.fetch(path, init);
      return { status: response.status, body: await response.json() };
    },
    createSession: async (body = {}) => {
      const { session_id } = JSON.parse(await (await post("/session", body)).text());
      return String(session_id);
    },
    attach,
    refusal: async (id, query) => {
      const refused: Refused = await refusalOf(attach(id, query));
      // Refused by that API's shape: a test that finds another one fails.
      return { status: refused.status, ...(refused.body as { code: string; message: string }) };
    },
    events: async (path, body) => parseEvents(await (await post(path, body)).text()),
  };
}

function parseEvents(text: string): ExecdEventLine[] {
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    return { id: field("id"), data: JSON.parse(field("data") ?? "null") };
  });
}
