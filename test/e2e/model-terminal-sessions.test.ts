import { expect, test } from "vitest";
import { WorkspaceId } from "#contract/ids.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openModelTerminals } from "#test/harness/model-terminal.ts";

const leaseTerminals = leaseForFile(openModelTerminals);

test("sessions that the caller may see are listed, the newest first, and the rest is counted", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const done = await host.create({ argv: ["true"], title: "done" });
  await host.output(done.session_id);
  for (const title of ["one", "two", "three"])
    await host.create({ argv: ["sleep", "1000"], title });
  const all = await call("session_list", {});
  expect(all.sessions.map(({ title }) => title)).toEqual(["three", "two", "one", "done"]);
  expect(all.omitted).toBe(0);
  const some = await call("session_list", { running: true, limit: 2 });
  expect(some.sessions.map(({ title }) => title)).toEqual(["three", "two"]);
  expect(some.omitted).toBe(1);
  expect((await call("session_list", { q: "TWO" })).sessions).toHaveLength(1);
  const elsewhere = terminals.as({ workspaces: [WorkspaceId.parse("wsp_0123456789abcdef")] });
  expect(await elsewhere("session_list", {})).toEqual({ sessions: [], omitted: 0 });
});

test("what a session printed is read from an offset on, cut in the middle", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const { session_id } = await host.create({
    argv: ["sh", "-c", "seq 1 2000; printf '\\033[1mend\\033[0m'"],
  });
  await host.output(session_id);
  const tail =
    Buffer.byteLength(`${Array.from({ length: 2000 }, (_, i) => i + 1).join("\n")}\n`) + 11;
  const whole = await call("session_read", { session_id });
  expect(whole).toMatchObject({ offset: 0, next_offset: tail, omitted_bytes: 0 });
  expect(whole.output).toMatch(/^1\n2\n.*\n2000\nend$/s);
  expect(whole.state).toMatchObject({ kind: "exited", exit_code: 0 });
  const cut = await call("session_read", { session_id, max_bytes: 1024 });
  expect(Buffer.byteLength(cut.output)).toBeLessThanOrEqual(1024);
  expect(cut.output).toMatch(/^1\n.*2000\nend$/s);
  expect(cut.omitted_bytes).toBeGreaterThan(5000);
  const rest = await call("session_read", { session_id, since: tail - 16 });
  expect(rest).toMatchObject({ output: "2000\nend", offset: tail - 16, next_offset: tail });
  expect(await call("session_read", { session_id, since: tail })).toMatchObject({ output: "" });
  await expect(call("session_read", { session_id, since: tail + 1 })).rejects.toMatchObject({
    code: "offset_out_of_range",
  });
});

test("of a session that runs, a character that is half there is read when it is whole", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const { session_id } = await host.create({
    argv: ["sh", "-c", "printf 'a\\303'; read x; printf '\\251'; read y"],
    stdin: true,
  });
  await call("session_wait", { session_id, for: "text", text: "a" });
  const half = await waitFor("half of it", async () => {
    const read = await call("session_read", { session_id });
    return read.output === "a" && read;
  });
  expect(half.next_offset).toBe(1);
  await call("session_send", { session_id, text: "", enter: true });
  await waitFor("the rest", async () => {
    const read = await call("session_read", { session_id, since: half.next_offset });
    return read.output === "é";
  });
});

test("a session is typed into, on a terminal and on a pipe", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const script = 'read a; read b; echo "<$a|$b>"';
  for (const kind of ["terminal", "command"] as const) {
    const { session_id } = await host.create({ kind, argv: ["sh", "-c", script], stdin: true });
    const sent = await call("session_send", { session_id, text: "one\ntwo", enter: true });
    expect(sent).toEqual({ success: true, message: "typed 8 bytes" });
    const found = await call("session_wait", { session_id, for: "text", text: "<one|two>" });
    expect(found).toMatchObject({ matched: true });
    const ended = await call("session_wait", { session_id, for: "exit" });
    expect(ended).toMatchObject({ matched: true, state: { kind: "exited", exit_code: 0 } });
  }
});

test("control of another is respected until it is taken", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const { session_id } = await host.create({ kind: "terminal", argv: ["cat"] });
  const seat = { session_id, viewer: "ann", role: "controller" } as const;
  await host.client.call("session.attach", seat);
  const sending = { session_id, text: "mine", enter: true };
  await expect(call("session_send", sending)).rejects.toMatchObject({
    code: "not_controller",
    message: expect.stringContaining("take over"),
  });
  await call("session_send", { ...sending, takeover: true });
  expect(
    await call("session_wait", { session_id, for: "regex", pattern: "mine\\r\\nmine" }),
  ).toMatchObject({
    matched: true,
    offset: 0,
  });
});

test("a wait ends in time, with what it lacked said before", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const { session_id } = await host.create({ argv: ["sh", "-c", "echo hello; sleep 1000"] });
  await waitFor(
    "the output",
    async () => (await call("session_read", { session_id })).output !== "",
  );
  const idle = await call("session_wait", { session_id, for: "idle", idle: "50ms" });
  expect(idle).toMatchObject({ matched: true, tail: 6, state: { kind: "running" } });
  const never = { session_id, for: "output", since: 6, timeout: "50ms" } as const;
  expect(await call("session_wait", never)).toMatchObject({ matched: false, offset: 6 });
  for (const kind of ["text", "regex"] as const)
    await expect(call("session_wait", { session_id, for: kind })).rejects.toMatchObject({
      code: "invalid_request",
    });
});

test("sessions of other workspaces do not exist", async () => {
  await using terminals = await leaseTerminals();
  const { session_id } = await terminals.host.create({ argv: ["sleep", "1000"] });
  const call = terminals.as({ workspaces: [WorkspaceId.parse("wsp_0123456789abcdef")] });
  for (const asked of [
    call("session_read", { session_id }),
    call("session_send", { session_id, text: "x" }),
    call("session_wait", { session_id, for: "exit" }),
  ])
    await expect(asked).rejects.toMatchObject({ code: "session_not_found" });
});
