import { expect, test } from "vitest";
import type { Attachment } from "#client/attach/attachment.ts";
import type { AttachEvent } from "#client/attach/frames.ts";
import { type Client, createClient } from "#client/client.ts";
import type { Terminals, TerminalsEvent } from "#client/terminals.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";

/** For the tests that need no gateway of their own. */
const leaseGateway = leaseForFile(() => openTestGateway());

test("types into a terminal, resizes it, signals it and closes it", async () => {
  await using gateway = await leaseGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const session_id = await openTerminal(
    client,
    "trap 'echo caught' USR1; stty -echo; echo ready; while :; do read -r line && eval \"$line\"; done",
  );
  await using attached = client.attach(session_id, { role: "controller" });
  const seen = new Screen(attached);
  await seen.until("ready");
  await attached.resize(101, 31);
  await attached.write("stty size\n");
  await seen.until("31 101");
  await attached.signal("USR1");
  await attached.write("\n");
  await seen.until("caught");
  await attached.close("enough");
  expect(await seen.end()).toMatchObject({ type: "exit", reason: "user_requested" });
  expect(seen.events).toContainEqual({ type: "resized", cols: 101, rows: 31 });
});

test("a large paste arrives whole, as JSON as well as binary", async () => {
  await using gateway = await leaseGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const paste = `${"0123456789abcde\n".repeat(40_000)}`;
  for (const binary of [true, false]) {
    const { session_id } = await client.call("session.create", {
      kind: "command",
      command: "cat",
      stdin: true,
    });
    await using attached = client.attach(session_id, { role: "controller", binary });
    const seen = new Screen(attached);
    await attached.write(paste);
    await attached.eof();
    expect(await seen.end()).toMatchObject({ type: "exit", exit_code: 0, tail: paste.length });
    expect(seen.text === paste).toBe(true);
  }
});

test("control is refused, taken over and lost, and who lost it is told", async () => {
  await using gateway = await leaseGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const session_id = await openTerminal(client, "cat");
  await using first = client.attach(session_id, { role: "controller" });
  const firstSeen = new Screen(first);
  await firstSeen.event("connected");
  await using refused = client.attach(session_id, { role: "controller" });
  const [last] = (await Array.fromAsync(refused)).slice(-1);
  expect(last).toMatchObject({ type: "failed", fault: { code: "not_controller" } });
  await using watching = client.attach(session_id);
  const watchingSeen = new Screen(watching);
  await expect(watching.write("x")).rejects.toMatchObject({ code: "not_controller" });
  await watching.take();
  expect(await firstSeen.end()).toEqual({ type: "taken_over" });
  await watching.write("mine\n");
  await watchingSeen.until("mine");
  await watching.release();
  await expect(watching.write("x")).rejects.toMatchObject({ code: "not_controller" });
});

test("paints a screen and follows it from there", async () => {
  await using gateway = await leaseGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const session_id = await openTerminal(client, "printf 'old words'; cat");
  await client.call("session.wait", { session_id, for: "text", text: "words", timeout_ms: 10_000 });
  await using attached = client.attach(session_id, { paint: true, role: "controller" });
  const seen = new Screen(attached);
  const screen = await seen.event("screen");
  expect(screen).toMatchObject({ state: expect.stringContaining("old words"), offset: 9 });
  await attached.write("new\n");
  await seen.until("new");
  expect(seen.text).not.toContain("old");
});

test("a size that changes while the screen is painted is told", async () => {
  await using gateway = await leaseGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  const session_id = await openTerminal(client, "printf 'words'; cat");
  for (let cols = 81; cols < 101; cols += 1) {
    await using attached = client.attach(session_id, { paint: true, since: "tail" });
    // Somewhere between the first frame and the screen.
    await client.call("session.resize", { session_id, cols, rows: 30 });
    let known = 0;
    for await (const event of attached) {
      if ("cols" in event) known = event.cols ?? 0;
      if (known === cols) break;
    }
    expect(known).toBe(cols);
  }
});

test("a page's cookie is enough, and its socket is the page's own", async () => {
  await using gateway = await leaseGateway();
  const admin = createClient({ url: gateway.url, token: gateway.token });
  const { ticket } = await admin.call("ticket.create", {});
  // What a browser does by itself: it keeps the cookie and names its origin.
  let cookie = "";
  const browser: typeof fetch = async (input, init) => {
    const headers = {
      ...(init?.headers as Record<string, string>),
      Origin: gateway.url,
      Cookie: cookie,
    };
    const response = await fetch(input, { ...init, headers });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return response;
  };
  const BrowserSocket = class extends WebSocket {
    constructor(url: string, protocols: string[] = []) {
      super(url, { protocols, headers: { Cookie: cookie, Origin: gateway.url } });
    }
  };
  const page = createClient({
    url: gateway.url,
    page: true,
    fetch: browser,
    WebSocket: BrowserSocket,
  });
  await page.call("ticket.exchange", { ticket });
  const session_id = await openTerminal(page, "echo from a page");
  await using attached = page.attach(session_id);
  const seen = new Screen(attached);
  expect(await seen.end()).toMatchObject({ type: "exit" });
  expect(seen.text).toContain("from a page");
});

test("terminals of a task share one socket", async () => {
  // Not the user's own shell, whose profile may take any time.
  await using gateway = await openTestGateway({ flags: { shell: "/bin/sh" } });
  const client = createClient({ url: gateway.url, token: gateway.token });
  const { workspace_id } = await client.call("workspace.create", { name: "w" });
  const { task_id } = await client.call("task.create", { workspace_id, work_dir: "/" });
  await using terminals = client.terminals();
  const { session_id, work_dir } = await terminals.open({
    task_id,
    workspace_id,
    cols: 90,
    rows: 20,
  });
  expect(work_dir).toBe("/");
  const unknown = "tsk_0123456789abcdef";
  await expect(terminals.open({ task_id: unknown, workspace_id })).rejects.toMatchObject({
    code: "task_not_found",
  });
  terminals.write(session_id, "stty size; echo o''k\n");
  await untilPrinted(terminals, session_id, "ok");
  terminals.resize(session_id, 91, 0);
  terminals.write(session_id, "stty size\n");
  await untilPrinted(terminals, session_id, "20 91");
  terminals.close(session_id, "done");
  const events: TerminalsEvent[] = [];
  for await (const event of terminals) {
    events.push(event);
    if (event.type === "terminal.exit") break;
  }
  expect(events.at(-1)).toMatchObject({ session_id, reason: "user_requested" });
});

async function openTerminal(client: Client, command: string): Promise<string> {
  return (await client.call("session.create", { kind: "terminal", command })).session_id;
}

async function untilPrinted(terminals: Terminals, session_id: string, text: string): Promise<void> {
  let printed = "";
  for await (const event of terminals) {
    if (event.type === "terminal.data" && event.session_id === session_id)
      printed += Buffer.from(event.bytes).toString("utf8");
    if (printed.includes(text)) return;
  }
  throw new Error(`the terminals ended before ${text}`);
}

/** Reads one attachment, and remembers what it has read. */
class Screen {
  readonly events: AttachEvent[] = [];
  readonly #iterator: AsyncIterator<AttachEvent, undefined>;
  text = "";

  constructor(attached: Attachment) {
    this.#iterator = attached[Symbol.asyncIterator]();
  }

  async until(text: string): Promise<void> {
    while (!this.text.includes(text))
      if (!(await this.#read())) throw new Error(`it ended before ${text}`);
  }

  async event(type: AttachEvent["type"]): Promise<AttachEvent | undefined> {
    while (this.events.at(-1)?.type !== type)
      if (!(await this.#read())) throw new Error(`it ended before ${type}`);
    return this.events.at(-1);
  }

  async end(): Promise<AttachEvent | undefined> {
    while (await this.#read());
    return this.events.at(-1);
  }

  async #read(): Promise<boolean> {
    const { done, value } = await this.#iterator.next();
    if (done === true) return false;
    this.events.push(value);
    if (value.type === "output") this.text += Buffer.from(value.bytes).toString("latin1");
    return true;
  }
}
