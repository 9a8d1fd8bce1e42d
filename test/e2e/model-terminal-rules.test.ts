import { expect, test } from "vitest";
import { WorkspaceId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openModelTerminals } from "#test/harness/model-terminal.ts";
import { isAlive } from "#test/harness/processes.ts";

const leaseTerminals = leaseForFile(openModelTerminals);

/** Prints in hex what it reads; `m` and `n` switch application cursor keys on and off, `p` bracketed paste. */
const READER = `
process.stdin.setRawMode(true);
const modes = { m: "\\x1b[?1h", n: "\\x1b[?1l", p: "\\x1b[?2004h" };
process.stdin.on("data", (chunk) => {
  process.stdout.write(modes[chunk] === undefined ? chunk.toString("hex") : modes[chunk] + chunk + ":");
});
process.stdout.write("ready:");
`;
const reader = `${JSON.stringify(process.execPath)} -e '${READER}'`;

test("a shell is opened where nothing else is said, marked as an agent's, in the caller's environment", async () => {
  await using terminals = await leaseTerminals();
  const { call, workDir } = terminals;
  const env = { GREETING: "hi there" };
  const opened = await call("terminal_open", { env, label: "my shell", cols: 90, rows: 20 });
  const { terminal_id } = opened;
  expect(opened).toMatchObject({ cols: 90, rows: 20, state: { kind: "running" } });
  const line = `echo "$GREETING $TERM $REINS_AGENT $(pwd)" $(stty size)\n`;
  await call("terminal_type", { terminal_id, text: line });
  const text = `hi there xterm-256color 1 ${workDir} 20 90`;
  expect(await call("terminal_wait", { terminal_id, for: "text", text })).toMatchObject({
    matched: true,
  });
  const { sessions } = await call("session_list", { q: "my shell" });
  expect(sessions).toMatchObject([{ session_id: terminal_id, title: "my shell" }]);
  const { labels } = await terminals.host.client.call("session.labels", {
    session_id: terminal_id,
  });
  expect(labels).toEqual({
    workspace_id: "wsp_local",
    owner: "agent one",
    process: "terminal",
    agent: "1",
  });
});

test("what a program shows first is there when it is opened, and also what it left", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const command = "printf 'one '; sleep 0.1; printf two; exit 3";
  const opened = await call("terminal_open", { command });
  expect(opened).toMatchObject({
    screen: "one two",
    cursor: { row: 0, col: 7, visible: true },
    state: { kind: "exited", exit_code: 3 },
  });
  const { terminal_id } = opened;
  await expect(call("terminal_type", { terminal_id, text: "x" })).rejects.toMatchObject({
    code: "already_exited",
  });
  expect(
    await call("terminal_wait", { terminal_id, for: "text", text: "three", timeout: "1h" }),
  ).toMatchObject({ matched: false, screen: "one two" });
});

test.each([
  [{ env: { REINS_AGENT: "0" } }, "invalid_request"],
  [{ workdir: "/does/not/exist" }, "spawn_failed"],
  [{ command: " " }, "invalid_request"],
])("%j opens nothing", async (input, code) => {
  await using terminals = await leaseTerminals();
  await expect(terminals.call("terminal_open", input)).rejects.toMatchObject({ code });
  expect((await terminals.call("session_list", {})).sessions).toEqual([]);
});

test("arrow keys follow the mode that the program is in now", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: reader });
  await call("terminal_wait", { terminal_id, for: "text", text: "ready" });
  const press = async (keys: readonly string[], text: string) => {
    await call("terminal_type", { terminal_id, keys: [...keys], settle: 0 });
    const seen = await call("terminal_wait", { terminal_id, for: "text", text });
    expect(seen).toMatchObject({ matched: true });
  };
  await press(["up", "home"], "ready:1b5b411b5b48");
  await press(["m"], "m:");
  await press(["up", "home", "ctrl+up"], "m:1b4f411b4f481b5b313b3541");
  await press(["n"], "n:");
  await press(["down"], "n:1b5b42");
});

test("a paste is marked only for a program that asked for it", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: reader });
  await call("terminal_wait", { terminal_id, for: "text", text: "ready" });
  const paste = { terminal_id, text: "a\n\x1b[201~b", paste: true };
  await call("terminal_type", paste);
  const plain = Buffer.from("a\rb").toString("hex");
  await call("terminal_wait", { terminal_id, for: "text", text: `ready:${plain}` });
  await call("terminal_type", { terminal_id, keys: ["p"] });
  await call("terminal_wait", { terminal_id, for: "text", text: "p:" });
  await call("terminal_type", { ...paste, keys: ["enter"] });
  const marked = Buffer.from("\x1b[200~a\rb\x1b[201~\r").toString("hex");
  const seen = await call("terminal_wait", { terminal_id, for: "text", text: `p:${marked}` });
  expect(seen).toMatchObject({ matched: true });
});

test("an unknown key is named, and nothing is typed", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id, offset } = await call("terminal_open", { command: "cat" });
  const typing = { terminal_id, text: "hello", keys: ["enter", "hyper+x"] };
  await expect(call("terminal_type", typing)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(/"hyper\+x".*enter, tab.*pagedown/),
  });
  const far = { terminal_id, text: "hello", since: 1000 };
  await expect(call("terminal_type", far)).rejects.toMatchObject({ code: "offset_out_of_range" });
  const long = { terminal_id, text: "ü".repeat(limits.input_bytes / 2 + 1) };
  await expect(call("terminal_type", long)).rejects.toMatchObject({ code: "payload_too_large" });
  expect(await call("terminal_screen", { terminal_id })).toMatchObject({ screen: "", offset });
});

test("the screen is shown once the program is quiet, and at once if so wished", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const command =
    "stty -echo; echo ready; read x; for i in 1 2 3; do sleep 0.1; printf $i; done; read x";
  const { terminal_id } = await call("terminal_open", { command });
  await call("terminal_wait", { terminal_id, for: "text", text: "ready" });
  const typed = await call("terminal_type", { terminal_id, keys: ["enter"], settle: "2s" });
  expect(typed.screen).toBe("ready\n123");
  const same = { terminal_id, text: "x", settle: 0, since: typed.offset };
  expect(await call("terminal_type", same)).toMatchObject({ screen: "ready\n123", changed: [] });
});

test("what is opened, typed and closed is written down", async () => {
  await using terminals = await leaseTerminals();
  const { call, told } = terminals;
  const { terminal_id } = await call("terminal_open", { command: "cat" });
  await call("terminal_type", { terminal_id, text: "abc", settle: 0 });
  await call("terminal_close", { terminal_id });
  const ofIt = told.filter(({ target_id }) => target_id === terminal_id);
  expect(ofIt.map(({ action, target_id }) => [action, target_id])).toEqual([
    ["session.opened", terminal_id],
    ["session.wrote", terminal_id],
    ["session.closed", terminal_id],
  ]);
});

test("two calls at once are typed one behind the other", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: "stty -echo; echo ready; cat" });
  await call("terminal_wait", { terminal_id, for: "text", text: "ready" });
  const type = (text: string) => call("terminal_type", { terminal_id, text, keys: ["-", "enter"] });
  await Promise.all([type("first"), type("second"), type("third")]);
  const pattern = "(\\w+-\\n){2}\\w+-";
  const seen = await call("terminal_wait", { terminal_id, for: "regex", pattern });
  expect(seen.screen.split("\n").slice(1).toSorted()).toEqual(["first-", "second-", "third-"]);
});

test("a prompt is found with the blank before its cursor, and without", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: "printf 'a\\r\\n>>> '; read x" });
  const shown = await call("terminal_wait", { terminal_id, for: "text", text: ">>> " });
  expect(shown).toMatchObject({ matched: true, screen: "a\n>>>", cursor: { row: 1, col: 4 } });
  for (const [pattern, matched] of [
    ["^>>> $", true],
    ["^>>>$", true],
    ["^>>>  $", false],
    ["^a $", false],
  ] as const) {
    const wish = { terminal_id, for: "regex", pattern, timeout: 0 } as const;
    expect(await call("terminal_wait", wish)).toMatchObject({ matched });
  }
});

test("since tells the lines that differ from an earlier screen", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const command =
    "printf 'top\\r\\nmiddle\\r\\nend'; read x; printf '\\033[2;1HMIDDLE\\033[3;1H\\033[K'; read x";
  const { terminal_id } = await call("terminal_open", { command });
  const first = await call("terminal_wait", { terminal_id, for: "text", text: "end" });
  expect(first).not.toHaveProperty("changed");
  const same = await call("terminal_screen", { terminal_id, since: first.offset });
  expect(same.changed).toEqual([]);
  await call("terminal_type", { terminal_id, keys: ["enter"] });
  const since = first.offset;
  const next = await call("terminal_wait", { terminal_id, for: "text", text: "MIDDLE", since });
  expect(next.changed).toEqual([
    { row: 1, text: "MIDDLE" },
    { row: 2, text: "" },
  ]);
  expect(next.screen).toBe("top\nMIDDLE");
  await expect(call("terminal_screen", { terminal_id, since: 100_000 })).rejects.toMatchObject({
    code: "offset_out_of_range",
  });
  const { client } = terminals.host;
  await client.call("session.resize", { session_id: terminal_id, cols: 60, rows: 8 });
  const resized = await call("terminal_screen", { terminal_id, since });
  expect(resized.changed?.map(({ row }) => row)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("a text is looked for on the screen, not in what made it", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const word = "x".repeat(70);
  const command = `printf 'gone\\033[2J\\033[HAB\\033[1;1HC\\033[2;1H${word}${word}'; read x`;
  const { terminal_id } = await call("terminal_open", { command });
  const shown = await call("terminal_wait", { terminal_id, for: "text", text: "CB\nxx" });
  expect(shown).toMatchObject({ matched: true });
  const wrapped = { terminal_id, for: "text", text: word + word, timeout: 0 } as const;
  expect(await call("terminal_wait", wrapped)).toMatchObject({ matched: true });
  const gone = { terminal_id, for: "text", text: "gone", timeout: 0 } as const;
  expect(await call("terminal_wait", gone)).toMatchObject({ matched: false });
  const pattern = { terminal_id, for: "regex", pattern: "^C.$", timeout: 0 } as const;
  expect(await call("terminal_wait", pattern)).toMatchObject({ matched: true });
});

test("a wait says what it lacks, and answers a pattern that would take a backtracking engine forever", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const command = "printf '%060d' 0; read x";
  const { terminal_id } = await call("terminal_open", { command });
  for (const [input, message] of [
    [{ for: "text" }, /^text: /],
    [{ for: "regex" }, /^pattern: /],
    [{ for: "regex", pattern: "(" }, /^pattern: /],
    [{ for: "regex", pattern: "a(?=b)" }, /^pattern: .*look-ahead/],
  ] as const)
    await expect(call("terminal_wait", { terminal_id, ...input })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(message),
    });
  const hostile = { terminal_id, for: "regex", pattern: "(0+)+$x|(0*)*y", timeout: 0 } as const;
  expect(await call("terminal_wait", hostile)).toMatchObject({ matched: false });
});

test("a wait that is cancelled ends, the terminal goes on", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", { command: "cat" });
  for (const wish of [{ for: "exit" }, { for: "text", text: "never" }] as const) {
    const controller = new AbortController();
    const waiting = call("terminal_wait", { terminal_id, ...wish }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  }
  expect(await call("terminal_screen", { terminal_id })).toMatchObject({
    state: { kind: "running" },
  });
});

test("closing ends everything that runs in it, and can be done again", async () => {
  await using terminals = await leaseTerminals();
  const { call } = terminals;
  const { terminal_id } = await call("terminal_open", {
    command: "sleep 1000 & echo pid $!; wait",
  });
  const { screen } = await call("terminal_wait", {
    terminal_id,
    for: "regex",
    pattern: "pid \\d+",
  });
  const pid = Number(/pid (\d+)/.exec(screen)?.[1]);
  expect(isAlive(pid)).toBe(true);
  const closed = await call("terminal_close", { terminal_id });
  expect(closed).toMatchObject({
    success: true,
    state: { kind: "exited", reason: "user_requested" },
  });
  await waitFor("the end of the child", () => !isAlive(pid));
  expect(await call("terminal_close", { terminal_id })).toEqual(closed);
  expect(await call("terminal_wait", { terminal_id, for: "exit" })).toMatchObject({
    matched: true,
  });
});

test("a terminal of another owner sounds like one that does not exist", async () => {
  await using terminals = await leaseTerminals();
  const { terminal_id } = await terminals.call("terminal_open", { command: "cat" });
  const unknown = "ses_0000000000000000";
  const elsewhere = [WorkspaceId.parse("wsp_0123456789abcdef")];
  for (const caller of [{ process_owner: "agent two" }, { workspaces: elsewhere }]) {
    const call = terminals.as(caller);
    for (const id of [terminal_id, unknown])
      for (const ask of [
        () => call("terminal_screen", { terminal_id: id }),
        () => call("terminal_type", { terminal_id: id, text: "x" }),
        () => call("terminal_wait", { terminal_id: id, for: "exit" }),
        () => call("terminal_close", { terminal_id: id }),
      ])
        await expect(ask()).rejects.toMatchObject({
          code: "session_not_found",
          message: `there is no session ${id}`,
        });
  }
  const operator = terminals.as({});
  expect(await operator("terminal_screen", { terminal_id })).toMatchObject({
    screen: "",
    state: { kind: "running" },
  });
});

test("what a person controls is not typed into", async () => {
  await using terminals = await leaseTerminals();
  const { call, host } = terminals;
  const { terminal_id } = await call("terminal_open", { command: "cat" });
  const seat = { session_id: terminal_id, viewer: "ann", role: "controller" } as const;
  const { attachment } = await host.client.call("session.attach", seat);
  await expect(call("terminal_type", { terminal_id, text: "x" })).rejects.toMatchObject({
    code: "not_controller",
    message: expect.stringMatching(/^ann\S* controls this terminal now .* terminal_screen/),
  });
  await host.client.call("session.detach", { attachment });
  await call("terminal_type", { terminal_id, text: "free\n" });
  const seen = await call("terminal_wait", { terminal_id, for: "text", text: "free\nfree" });
  expect(seen).toMatchObject({ matched: true });
});

test("what runs without a terminal is no terminal", async () => {
  await using terminals = await leaseTerminals();
  const { session_id } = await terminals.host.create({ argv: ["cat"], stdin: true });
  await expect(
    terminals.as({})("terminal_screen", { terminal_id: session_id }),
  ).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("session_read"),
  });
});
