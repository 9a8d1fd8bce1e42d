import { describe, expect, test } from "vitest";
import { endOf, type LogChunk } from "#log/log-source.ts";
import type {
  AttachRequest,
  HostAttachment,
  SessionHandle,
  SessionHosts,
} from "#session/session-host.ts";
import { waitFor } from "#test/harness/eventually.ts";

/** A host with one session, which prints what is typed into it, and the means to disturb both. */
export interface ContractSetting extends AsyncDisposable {
  readonly hosts: SessionHosts;
  readonly sessionId: string;
  /** Resolves when the session has printed it, whether or not a handle follows it. */
  print(text: string): Promise<void>;
  exit(): Promise<void>;
  remove(): Promise<void>;
  /** Ends every connection to the host. */
  cut(): void;
}

const UNKNOWN = "ses_0000000000000000";

/** The promises of every implementation of the port. */
export function describeSessionHost(name: string, open: () => Promise<ContractSetting>): void {
  describe(name, () => {
    test.each(Object.entries(promises))("%s", async (_, check) => {
      await using setting = await open();
      await check(setting);
    });
  });
}

const promises: Readonly<Record<string, (setting: ContractSetting) => Promise<void>>> = {
  "a handle hears of output and then of the exit, and its reader has the bytes": async (
    setting,
  ) => {
    using handle = await openHandle(setting);
    await setting.print("abc");
    await handle.until(({ tail }) => tail >= 3);
    expect(handle.session.state.kind).toBe("running");
    await setting.exit();
    await handle.until(({ session }) => session.state.kind === "exited");
    expect(await readText(handle, 0)).toBe("abc");
    expect(handle.state).toBe("open");
  },

  "readers are cursors of their own, and a tail bounds what is read": async (setting) => {
    using handle = await openHandle(setting);
    await setting.print("abcdef");
    await handle.until(({ tail }) => tail >= 6);
    expect([await readText(handle, 0), await readText(handle, 4)]).toEqual(["abcdef", "ef"]);
    const chunk = await handle.output.read(1, { limit: 100, tail: 3 });
    expect(chunk?.kind === "bytes" && Buffer.from(chunk.bytes).toString()).toBe("bc");
    expect(await handle.output.read(6, { limit: 1, tail: 6 })).toBeUndefined();
    expect(await handle.output.first()).toBe(0);
  },

  "the events begin with the session's own": async (setting) => {
    using handle = await openHandle(setting);
    await handle.until(({ eventsTail }) => eventsTail > 0);
    const chunk = await handle.events.read(0, { limit: 10_000, tail: handle.eventsTail });
    const text = chunk?.kind === "bytes" ? Buffer.from(chunk.bytes).toString() : "";
    expect(JSON.parse(text.slice(0, text.indexOf("\n")))).toMatchObject({
      type: "session.opened",
    });
  },

  "a session that is not there is refused by its name": async (setting) => {
    const host = setting.hosts.of(UNKNOWN);
    const refused = expect.objectContaining({ code: "session_not_found" });
    await expect(host.open(UNKNOWN)).rejects.toEqual(refused);
    await expect(host.call("session.get", { session_id: UNKNOWN })).rejects.toEqual(refused);
    await expect(host.attach(attachment(UNKNOWN, "a"))).rejects.toEqual(refused);
    expect(host.find(UNKNOWN)).toBeUndefined();
  },

  "handles are counted by session, and a disposed one is closed": async (setting) => {
    const host = setting.hosts.of(setting.sessionId);
    const first = await openHandle(setting);
    const second = await openHandle(setting);
    expect([host.followed, host.find(setting.sessionId)?.session_id]).toEqual([
      1,
      setting.sessionId,
    ]);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect([host.followed, second.state]).toEqual([1, "open"]);
    second[Symbol.dispose]();
    expect(host.followed).toBe(0);
  },

  "a wait ends with its signal": async (setting) => {
    using handle = await openHandle(setting);
    const leaving = new AbortController();
    const waited = handle.until(() => false, { signal: leaving.signal });
    leaving.abort();
    await waited;
    await handle.changed({ signal: leaving.signal });
  },

  "what a controller types arrives whole and in order": async (setting) => {
    using handle = await openHandle(setting);
    const host = setting.hosts.of(setting.sessionId);
    const attached = await host.attach(attachment(setting.sessionId, "ann"));
    const { generation = -1 } = attached;
    const words = Array.from({ length: 50 }, (_, n) => `<${n}>`);
    await Promise.all(words.map((word) => attached.type({ bytes: Buffer.from(word), generation })));
    const text = words.join("");
    await handle.until(({ tail }) => tail >= text.length);
    expect(await readText(handle, 0)).toBe(text);
  },

  "control is one client's; a takeover makes the older generation worthless": async (setting) => {
    const host = setting.hosts.of(setting.sessionId);
    const ann = await host.attach(attachment(setting.sessionId, "ann"));
    const refused = expect.objectContaining({ code: "not_controller" });
    await expect(host.attach(attachment(setting.sessionId, "bob"))).rejects.toEqual(refused);
    const bob = await host.attach({ ...attachment(setting.sessionId, "bob"), takeover: true });
    expect(bob.generation ?? 0).toBeGreaterThan(ann.generation ?? 0);
    const { generation = -1 } = ann;
    await expect(ann.type({ bytes: Buffer.from("x"), generation })).rejects.toEqual(refused);
    expect([await ann.renew(), await bob.renew()]).toEqual([false, true]);
    await bob.detach();
    expect(await ann.take({ takeover: false })).toBeGreaterThan(bob.generation ?? 0);
  },

  "inputs of a named attachment are applied once and in order, over any connection": async (
    setting,
  ) => {
    using handle = await openHandle(setting);
    const host = setting.hosts.of(setting.sessionId);
    expect(await host.knows("numbered")).toBe(true);
    const named = { ...attachment(setting.sessionId, "ann"), name: "n1" };
    const first = await host.attach(named);
    expect(first.applied).toBeNull();
    const type = async (at: HostAttachment, number: number, text: string) =>
      await at.type({ bytes: Buffer.from(text), number, generation: at.generation ?? -1 });
    await Promise.all([type(first, 1, "a"), type(first, 2, "b"), type(first, 1, "a")]);
    await expect(type(first, 4, "d")).rejects.toMatchObject({
      ...{ code: "input_out_of_order", details: { number: 4, expected: 3 } },
    });
    setting.cut();
    await waitFor("the cut is noticed", () => host.state !== "open");
    const second = await host.attach(named);
    expect(second.applied).toBe(2);
    for (const [number, text] of [...["b", "c"].entries()]) await type(second, number + 2, text);
    const other = await host.attach({ ...named, viewer: "bob", name: "n2", takeover: true });
    expect(other.applied).toBeNull();
    await type(second, 3, "c");
    await expect(type(second, 4, "d")).rejects.toMatchObject({ code: "not_controller" });
    await type(other, 1, "x");
    await handle.until(({ tail }) => tail >= 4);
    expect(await readText(handle, 0)).toBe("abcx");
  },

  "a named attachment takes control back from its earlier connection alone": async (setting) => {
    const host = setting.hosts.of(setting.sessionId);
    const named = { ...attachment(setting.sessionId, "ann"), name: "n1" };
    const first = await host.attach(named);
    const second = await host.attach(named);
    expect(second.generation ?? 0).toBeGreaterThan(first.generation ?? 0);
    const bob = host.attach({ ...named, viewer: "bob", name: "n2" });
    await expect(bob).rejects.toMatchObject({ code: "not_controller" });
  },

  "a listener hears of changes after each connection": async (setting) => {
    const host = setting.hosts.of(setting.sessionId);
    let connections = 0;
    const titles = new Set<string | undefined>();
    using _listener = host.watchAll({
      isNeeded: () => true,
      connected: () => {
        connections += 1;
      },
      changed: (_, session) => void titles.add(session?.title),
    });
    await host.connect();
    const rename = (title: string) =>
      host.call("session.rename", { session_id: setting.sessionId, title });
    await rename("one");
    await waitFor("the first title", () => titles.has("one"));
    setting.cut();
    await waitFor("another connection", () => connections === 2);
    await rename("two");
    await waitFor("the second title", () => titles.has("two"));
  },

  "a handle continues after a cut, and its reader at its cursor": async (setting) => {
    using handle = await openHandle(setting);
    await setting.print("one ");
    await handle.until(({ tail }) => tail >= 4);
    const first = await readText(handle, 0);
    setting.cut();
    await waitFor("the cut is noticed", () => handle.state === "unreachable");
    await setting.print("two ");
    await waitFor("the handle continues", () => handle.state === "open");
    await setting.print("three");
    await handle.until(({ tail }) => tail >= 13);
    expect([first, await readText(handle, first.length)]).toEqual(["one ", "two three"]);
  },

  "an attachment ends with its connection": async (setting) => {
    const host = setting.hosts.of(setting.sessionId);
    const attached = await host.attach(attachment(setting.sessionId, "ann"));
    setting.cut();
    const { generation = -1 } = attached;
    const typed = async () => await attached.type({ bytes: Buffer.from("x"), generation });
    const gone = expect.objectContaining({ code: "host_unavailable" });
    await expect(typed()).rejects.toEqual(gone);
    await expect(attached.renew()).rejects.toEqual(gone);
  },

  "a request after a cut reaches the host": async (setting) => {
    const host = setting.hosts.of(setting.sessionId);
    await host.connect();
    setting.cut();
    await waitFor("the cut is noticed", () => host.state !== "open");
    const session = await host.call("session.get", { session_id: setting.sessionId });
    expect([session.session_id, host.state]).toEqual([setting.sessionId, "open"]);
  },

  "a session that is removed closes its handles": async (setting) => {
    using handle = await openHandle(setting);
    const waited = handle.until(() => false);
    await setting.remove();
    await waited;
    expect(handle.state).toBe("closed");
  },
};

function openHandle({ hosts, sessionId }: ContractSetting): Promise<SessionHandle> {
  return hosts.of(sessionId).open(sessionId);
}

function attachment(session_id: string, viewer: string): AttachRequest {
  return { session_id, viewer, role: "controller", takeover: false };
}

/** Everything from the cursor to the newest tail. */
export async function readText(handle: SessionHandle, from: number): Promise<string> {
  const pieces: Buffer[] = [];
  const { tail } = handle;
  for (let cursor = from; cursor < tail; ) {
    const chunk: LogChunk | undefined = await handle.output.read(cursor, { limit: 7, tail });
    if (chunk === undefined) break;
    if (chunk.kind === "bytes") pieces.push(Buffer.from(chunk.bytes));
    cursor = endOf(chunk);
  }
  return Buffer.concat(pieces).toString();
}
