import { connect } from "node:net";
import { expect, test } from "vitest";
import { locateDataDir } from "#host/data-dir.ts";
import { encodeInput, encodeJson, FrameReader, KIND_JSON } from "#host/socket/frames.ts";
import type { HostMethod } from "#host/socket/methods.ts";
import { requests } from "#host/socket/requests.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { FuzzSource } from "#test/harness/fuzz-source.ts";
import { FUZZ_TIMES, FUZZ_WAIT, TAKE_ANYTHING } from "#test/harness/fuzz-world.ts";
import { openTestHost } from "#test/harness/host.ts";
import { countDescriptors } from "#test/harness/processes.ts";

/** Right by chance these would run, end or replace something. */
const DANGEROUS = ["host.shutdown", "host.upgrade", "session.create", "session.revive"];
const DEADLY = ["session.close", "session.signal"];
// Every key of the table is the name of a method.
const methods = (Object.keys(requests) as HostMethod[]).filter((name) => !DANGEROUS.includes(name));
const fieldsOf = (name: HostMethod) =>
  Object.keys((requests[name] as { readonly shape?: object }).shape ?? {});
const REQUESTS_A_CONNECTION = 50;

/** One frame, nearly right for the most part; the last kinds end the connection. */
function frame(source: FuzzSource, id: number, target: string): Buffer {
  const method = source.pick(methods);
  const mayHit = !DEADLY.includes(method) && source.once(2);
  const params = {
    ...source.object(fieldsOf(method)),
    ...(mayHit ? { session_id: target } : {}),
    ...(mayHit && source.once(2)
      ? { viewer: "x", role: source.pick(["viewer", "controller"]) }
      : {}),
  };
  if (source.once(8)) return encodeJson(source.value() ?? null);
  if (source.once(8)) return encodeJson({ id: source.value(1), method: source.value(1), params });
  if (source.once(8)) {
    const input = { id, attachment: source.int(4), input_id: source.text().slice(0, 50) };
    return encodeInput({ ...input, bytes: source.bytes(30) });
  }
  if (source.once(100)) return source.bytes(40);
  if (source.once(100)) return Buffer.from([3, 0, 0, 0, KIND_JSON, 0x7b, 0x7b]);
  return encodeJson({ id, method, params });
}

test("whatever comes over its socket, the host goes on, and has no error that nobody expected", {
  timeout: 240_000,
}, async () => {
  await using host = await openTestHost();
  const made = await host.create({ kind: "terminal", command: TAKE_ANYTHING });
  const target = made.session_id;
  const source = new FuzzSource(21);
  const codes = new Map<string, number>();
  const path = locateDataDir(host.dataDir).socket;
  // Its log is open from the first byte on.
  await waitFor("the target takes what comes", async () => {
    const { tail } = await host.client.call("session.get", { session_id: target });
    return tail > 0;
  });
  const before = countDescriptors(host.pid);
  for (let sent = 0; sent < FUZZ_TIMES; sent += REQUESTS_A_CONNECTION) {
    const socket = connect(path);
    const reader = new FrameReader();
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      for (const read of reader.push(chunk))
        if (read.kind === "json") count(codes, codeOf(read.value));
    });
    // Not `once` of node:events, which rejects when the host has closed before everything was written.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (let at = 0; at < REQUESTS_A_CONNECTION; at += 1) socket.write(frame(source, at, target));
    socket.end();
    await closed;
  }
  expect([...codes.keys()]).toEqual(
    expect.arrayContaining(["none", "invalid_request", "session_not_found"]),
  );
  expect(codes.get("internal")).toBeUndefined();
  expect(await host.client.call("host.health", {})).toMatchObject({
    ...{ pid: host.pid, live: 1, errors: 0, last_error: null, log_faults: 0 },
  });
  expect((await host.client.call("session.get", { session_id: target })).state).toEqual({
    kind: "running",
  });
  await waitFor(
    "no descriptor is left of them",
    () => countDescriptors(host.pid) <= before,
    FUZZ_WAIT,
  );
});

function codeOf(value: unknown): string {
  const { error } = value as { readonly error?: { readonly code?: unknown } };
  return error === undefined ? "none" : String(error.code);
}

function count(codes: Map<string, number>, code: string): void {
  codes.set(code, (codes.get(code) ?? 0) + 1);
}
