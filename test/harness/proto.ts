import { waitFor } from "./eventually.ts";
import type { Reins, Running } from "./reins.ts";

/** A line of `reins proto`. */
export interface ProtoLine {
  readonly id?: string | number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A `reins proto` that is spoken to. */
export interface Proto {
  readonly running: Running;
  /** Every line so far, parsed: each of them has to be JSON. */
  lines(): ProtoLine[];
  write(text: string | Buffer): void;
  /** Asks and waits for the reply with this request's id. */
  ask(request: {
    readonly id: string | number;
    readonly [field: string]: unknown;
  }): Promise<ProtoLine>;
  /** The first line that the check is content with. */
  find(what: string, check: (line: ProtoLine) => boolean): Promise<ProtoLine>;
  /** The first event of a type. */
  event(type: string): Promise<Readonly<Record<string, unknown>>>;
}

const WAIT_MS = 30_000;

export async function startProto(reins: Reins, args: readonly string[] = []): Promise<Proto> {
  const running = reins.start(["proto", ...args], { input: "pipe" });
  const lines = () =>
    running
      .stdout()
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line): ProtoLine => JSON.parse(line));
  const find: Proto["find"] = (what, check) =>
    waitFor(`proto says ${what}`, () => lines().find(check), { timeout: WAIT_MS });
  const write: Proto["write"] = (text) => void running.child.stdin?.write(text);
  await find("ready", ({ type }) => type === "ready");
  return {
    running,
    lines,
    write,
    find,
    ask: async (request) => {
      write(`${JSON.stringify(request)}\n`);
      return await find(`the answer to ${request.id}`, ({ id }) => id === request.id);
    },
    event: async (type) => {
      const isIt = (line: ProtoLine) => line.type === "event" && eventOf(line).type === type;
      return eventOf(await find(`the event ${type}`, isIt));
    },
  };
}

export function eventOf(line: ProtoLine): Readonly<Record<string, unknown>> {
  // An event is an object by the protocol.
  return line.event as Readonly<Record<string, unknown>>;
}
