import type { Session } from "#contract/session.ts";
import { TerminalServerFrame } from "#contract/terminal-frames.ts";
import { defined } from "#contract/values/defined.ts";
import type { Task } from "#contract/workspace.ts";
import { waitFor } from "#test/harness/eventually.ts";
import type { Door } from "#test/harness/gateway.ts";
import type { TestSocket } from "#test/harness/socket.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

type FrameType = TerminalServerFrame["type"];
type Payloads = { readonly [F in TerminalServerFrame as F["type"]]: F["payload"] };
type Payload<T extends FrameType> = Payloads[T];

/** A busy machine takes its time; nothing waits longer than it has to. */
const patient = { timeout: 30_000 };

export interface TestTask extends Task, Disposable {}

/** A task with a directory of its own. */
export async function openTask(door: Door, input: Partial<Task> = {}): Promise<TestTask> {
  const dir = openTempDir();
  const { workspace_id, issue_id, prior_session_id } = input;
  const task = await door.get("task.create", {
    work_dir: input.work_dir ?? dir.path,
    ...defined({ workspace_id }),
    ...(typeof issue_id === "string" ? { issue_id } : {}),
    ...(typeof prior_session_id === "string" ? { prior_session_id } : {}),
  });
  return { ...task, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

/** A client's end of the socket of many terminals. Every frame that comes is checked against its schema. */
export class Terminals implements AsyncDisposable {
  readonly socket: TestSocket;
  #checked = 0;
  #requests = 0;

  constructor(socket: TestSocket) {
    this.socket = socket;
  }

  send(type: string, payload: object): void {
    this.socket.send({ type, payload });
  }

  /** Those that have come so far. */
  frames(): TerminalServerFrame[] {
    const { frames } = this.socket;
    for (; this.#checked < frames.length; this.#checked += 1)
      TerminalServerFrame.parse(frames[this.#checked]);
    // Each was parsed above.
    return frames as unknown as TerminalServerFrame[];
  }

  all<T extends FrameType>(type: T): Payload<T>[] {
    // A frame of this type has this payload.
    return this.frames()
      .filter((frame) => frame.type === type)
      .map(({ payload }) => payload as Payload<T>);
  }

  async next<T extends FrameType>(
    type: T,
    matches: (payload: Payload<T>) => boolean = () => true,
  ): Promise<Payload<T>> {
    return await waitFor(`a frame ${type}`, () => this.all(type).find(matches), patient);
  }

  /** Opens a terminal of the task and answers its id. */
  async open(task: Task, extra: object = {}): Promise<Session["session_id"]> {
    return (await this.opened(task, extra)).session_id;
  }

  async opened(task: Task, extra: object = {}): Promise<Payload<"terminal.opened">> {
    const { task_id, workspace_id } = task;
    return await this.#ask("terminal.opened", "terminal.open", { task_id, workspace_id, ...extra });
  }

  async attach(session_id: string, since?: number | "tail"): Promise<Payload<"terminal.attached">> {
    const asked = { session_id, ...defined({ since }) };
    return await this.#ask("terminal.attached", "terminal.attach", asked);
  }

  /** What an opening that must not succeed is answered with. */
  async refusal(type: string, payload: object): Promise<Payload<"terminal.error">> {
    const request_id = this.#nextRequest();
    this.send(type, { request_id, ...payload });
    return await this.next("terminal.error", (error) => error.request_id === request_id);
  }

  /** The same for what is about a session. */
  async sessionRefusal(
    type: string,
    payload: { readonly session_id: string } & Record<string, unknown>,
  ): Promise<Payload<"terminal.error">> {
    const before = this.all("terminal.error").length;
    this.send(type, payload);
    const { session_id } = payload;
    return await waitFor(`an error of ${session_id}`, () =>
      this.all("terminal.error")
        .slice(before)
        .find((error) => error.session_id === session_id),
    );
  }

  type(session_id: string, text: string | Buffer, input_id?: string): void {
    const data_b64 = Buffer.from(text).toString("base64");
    this.send("terminal.data", {
      session_id,
      data_b64,
      ...defined({ input_id }),
    });
  }

  /** All its output so far, checked to be without a hole but where a gap says so. */
  output(session_id: string): Buffer {
    let next: number | undefined;
    const parts: Buffer[] = [];
    for (const { type, payload } of this.frames()) {
      if (type === "terminal.gap" && payload.session_id === session_id) next = payload.to;
      if (type === "terminal.attached" && payload.session_id === session_id) next = payload.offset;
      if (type !== "terminal.data" || payload.session_id !== session_id) continue;
      if (payload.offset !== (next ?? 0)) throw new Error(`${payload.offset} follows ${next}`);
      const bytes = Buffer.from(payload.data_b64, "base64");
      next = payload.offset + bytes.length;
      parts.push(bytes);
    }
    return Buffer.concat(parts);
  }

  async printed(session_id: string, text: string): Promise<void> {
    await waitFor(
      `output ${JSON.stringify(text)}`,
      () => this.output(session_id).includes(text),
      patient,
    );
  }

  async exit(session_id: string): Promise<Payload<"terminal.exit">> {
    return await this.next("terminal.exit", (exit) => exit.session_id === session_id);
  }

  /** The types of all frames about it, without repetitions in a row. */
  order(session_id: string): string[] {
    const types = this.frames()
      .filter(({ payload }) => payload.session_id === session_id)
      .map(({ type }) => type.slice("terminal.".length));
    return types.filter((type, at) => type !== types[at - 1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.socket[Symbol.asyncDispose]();
  }

  async #ask<T extends "terminal.opened" | "terminal.attached">(
    answer: T,
    type: string,
    payload: object,
  ): Promise<Payload<T>> {
    const request_id = this.#nextRequest();
    this.send(type, { request_id, ...payload });
    return await waitFor(`an answer to ${type}`, () => {
      const error = this.all("terminal.error").find((found) => found.request_id === request_id);
      if (error !== undefined) throw new Error(`${type}: ${error.code}: ${error.message}`);
      return this.all(answer).find((found) => found.request_id === request_id);
    });
  }

  #nextRequest(): string {
    this.#requests += 1;
    return `r${this.#requests}`;
  }
}

export async function openTerminals(door: Door): Promise<Terminals> {
  return new Terminals(await door.socket("/v1/terminals/ws"));
}
