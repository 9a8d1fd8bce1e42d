import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient } from "#client/client.ts";
import type { OperationInput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { openOwnClient } from "#daemon/own/own-client.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { binPath } from "#test/harness/packaged.ts";

/** One list of claims about a `Client`, over both ways to the sessions of one host: in this process, and over HTTP. */

const UNKNOWN = "ses_0000000000000000" as Session["session_id"];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

type OpenedClient = Client & AsyncDisposable;

async function openHere(): Promise<OpenedClient> {
  const { dataDir } = gateway.host;
  return await openOwnClient({
    ...{ dataDir, command: [process.execPath, binPath], env: {} },
    ...{ caller: createTestCaller(), viewer: "test", attaches: true },
  });
}

async function openThere(): Promise<OpenedClient> {
  const { url, token } = gateway;
  return { ...createClient({ url, token }), [Symbol.asyncDispose]: async () => undefined };
}

describe.each([
  ["in process", openHere],
  ["over HTTP", openThere],
] as const)("a client %s", (name, open) => {
  let client: OpenedClient;
  beforeAll(async () => {
    client = await open();
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
  });
  const create = (request: Partial<OperationInput<"session.create">>) =>
    client.call("session.create", { kind: "command", work_dir: "/", ...request });
  const createEnded = async (script: string) => {
    const session = await create({ argv: ["sh", "-c", script] });
    const { session_id } = session;
    await client.call("session.wait", { session_id, for: "exit", timeout_ms: 30_000 });
    return session;
  };

  test("says which server it asks", () => {
    expect(client.address).toBe(name === "in process" ? undefined : gateway.url);
  });

  test("creates, lists, renames and closes sessions", async () => {
    const { session_id } = await create({ kind: "terminal", argv: ["cat"], title: "first" });
    expect(await client.call("session.get", { session_id })).toMatchObject({ title: "first" });
    await client.call("session.update", { session_id, title: "second" });
    const { sessions } = await client.call("session.list", { q: "second" });
    expect(sessions.map((session) => session.session_id)).toEqual([session_id]);
    const closed = await client.call("session.close", { session_id, purge: true });
    expect(closed.state.kind).toBe("exited");
    await expect(client.call("session.get", { session_id })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });

  test("starts one session for one idempotency key", async () => {
    const request = { argv: ["true"], idempotency_key: `once ${name}` };
    const first = await create(request);
    expect((await create(request)).session_id).toBe(first.session_id);
  });

  test("refuses wrong and unknown fields by their names", async () => {
    const { session_id } = await createEnded("true");
    const wait = { session_id, for: "exit", timeout_ms: -1 } as const;
    await expect(client.call("session.wait", wait)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("timeout_ms"),
    });
    const screen = { session_id, color: "red" };
    await expect(client.call("session.screen", screen)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("color"),
    });
    await expect(create({ argv: [] })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("says session_not_found for an unknown session, however it is asked for", async () => {
    const session_id = UNKNOWN;
    const missing = { code: "session_not_found" };
    await expect(client.call("session.get", { session_id })).rejects.toMatchObject(missing);
    await expect(client.output({ session_id })).rejects.toMatchObject(missing);
    await expect(client.document("session.export", { session_id })).rejects.toMatchObject(missing);
    const events = client.stream("session.events", { session_id, follow: false });
    await expect(Array.fromAsync(events)).rejects.toMatchObject(missing);
    const heard = await Array.fromAsync(client.attach(session_id));
    expect(heard.at(-1)).toMatchObject({ type: "failed", fault: missing });
  });

  test("reads output in ranges up to the last one", async () => {
    const { session_id } = await createEnded("printf 0123456789");
    const first = await client.output({ session_id, limit: 4 });
    expect(first).toMatchObject({ offset: 0, next: 4, tail: 10, gap: null, final: false });
    expect(Buffer.from(first.bytes).toString()).toBe("0123");
    const last = await client.output({ session_id, since: 4 });
    expect(last).toMatchObject({ offset: 4, next: 10, final: true });
    expect(Buffer.from(last.bytes).toString()).toBe("456789");
    await expect(client.output({ session_id, since: 11 })).rejects.toMatchObject({
      code: "offset_out_of_range",
    });
  });

  test("streams events with the offset behind each, and continues from one", async () => {
    const { session_id } = await createEnded("true");
    const asked = { session_id, follow: false };
    const all = await Array.fromAsync(client.stream("session.events", asked));
    expect(all.map(({ data }) => data.type)).toContain("session.exited");
    const since = all[0]?.id ?? 0;
    const rest = await Array.fromAsync(client.stream("session.events", { ...asked, since }));
    expect(rest).toEqual(all.slice(1));
  });

  test("exports a document with its type and name", async () => {
    const { session_id } = await createEnded("printf 'as text'");
    const asked = { session_id, format: "text" } as const;
    const { media_type, file_name, body } = await client.document("session.export", asked);
    expect(media_type).toContain("text/plain");
    expect(file_name).toContain(session_id);
    expect(await new Response(body).text()).toBe("as text\n");
  });

  test("shows a screen and waits for text", async () => {
    const { session_id } = await create({ kind: "terminal", argv: ["sh", "-c", "echo on; cat"] });
    const wait = { session_id, for: "text", text: "on", timeout_ms: 30_000 } as const;
    expect(await client.call("session.wait", wait)).toMatchObject({ matched: true });
    const screen = await client.call("session.screen", { session_id });
    expect("lines" in screen ? screen.lines[0] : undefined).toBe("on");
    await client.call("session.close", { session_id });
  });

  test("attaches, types with control, and hears the exit", async () => {
    const { session_id } = await create({
      ...{ kind: "terminal", argv: ["sh", "-c", "stty -echo; echo ready; read line; echo $line"] },
    });
    await using attachment = client.attach(session_id, { role: "controller" });
    let printed = "";
    let isTyped = false;
    for await (const event of attachment) {
      if (event.type === "output") printed += Buffer.from(event.bytes).toString();
      if (!isTyped && printed.includes("ready")) {
        isTyped = true;
        await attachment.write("typed\n");
      }
      if (event.type === "exit") expect(event).toMatchObject({ exit_code: 0, reason: "exited" });
    }
    expect(printed).toBe("ready\r\ntyped\r\n");
  });

  test("keeps stdout and stderr apart in an attachment that only reads", async () => {
    const { session_id } = await createEnded("echo out; echo err >&2");
    const heard: string[] = [];
    for await (const event of client.attach(session_id, { reads: "exit" }))
      if (event.type === "output")
        heard.push(`${event.channel} ${Buffer.from(event.bytes).toString().trim()}`);
    expect(heard.toSorted()).toEqual(["stderr err", "stdout out"]);
  });

  test("paints the screen before output that follows it", async () => {
    const { session_id } = await create({ kind: "terminal", argv: ["sh", "-c", "echo on; cat"] });
    const wait = { session_id, for: "text", text: "on", timeout_ms: 30_000 } as const;
    await client.call("session.wait", wait);
    await using attachment = client.attach(session_id, { paint: true });
    const types: string[] = [];
    for await (const event of attachment) {
      types.push(event.type);
      if (event.type === "screen" || event.type === "output") break;
    }
    expect(types.at(-1)).toBe("screen");
    await client.call("session.close", { session_id });
  });

  test("runs a command as the tools for models do", async () => {
    const asked = { command: "echo here; exit 3", workdir: "/", timeout: "30s" };
    expect(await client.call("process.execute", asked)).toMatchObject({
      output: expect.stringContaining("here"),
      exit_code: 3,
    });
  });

  test("rejects an aborted call with the reason of its signal", async () => {
    const { session_id } = await create({ kind: "terminal", argv: ["cat"] });
    const leaving = new AbortController();
    const wait = { session_id, for: "text", text: "never", timeout_ms: 60_000 } as const;
    const waiting = client.call("session.wait", wait, { signal: leaving.signal });
    leaving.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    await client.call("session.close", { session_id });
  });
});
