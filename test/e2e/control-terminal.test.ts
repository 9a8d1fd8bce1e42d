import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { type Control, keepControls, SLOW_MS, type Way } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";

const controlOf = keepControls();
const ways = rows<Way>({ few: ["local"], full: ["local", "remote"] });
const screenAgent = fileURLToPath(new URL("../harness/screen-agent.ts", import.meta.url));

/** A host and a server differ in these. */
describe.each(["local", "remote"] as const)(
  "a terminal or a command, %s",
  { timeout: SLOW_MS },
  (way) => {
    let control: Control;
    beforeAll(async () => {
      control = await controlOf(way);
    });

    test("send types, wait hears, screen shows", async () => {
      const { run, reins } = control;
      const id = await reins.detach([
        "--tty",
        "--",
        "sh",
        "-c",
        "stty -echo; read a; echo got:$a; cat",
      ]);
      const waiting = run("wait", "--text", "got:one two", "--json", "--to", id);
      expect(await control.feed("one two\n\n", "send", "-", "--to", id)).toMatchObject({
        code: 0,
        stdout: "",
        stderr: `reins: typed into ${id}\n`,
      });
      expect(JSON.parse((await waiting).stdout)).toMatchObject({
        session_id: id,
        matched: true,
        for: "text",
        text: "got:one two",
      });
      succeed(await run("send", "--no-enter", "a", "--to", id));
      succeed(await run("send", "b", "--to", id));
      expect(succeed(await run("wait", "--regex", "^a?b", id))).toBe("ab\n");
      expect(succeed(await run("wait", "--idle", "50ms", id))).toBe("");
      expect(succeed(await run("screen", id))).toBe("got:one two\nab\n");
      const screen = JSON.parse(succeed(await run("screen", "--json", "--to", id)));
      expect(screen).toMatchObject({ session_id: id, cols: 80, rows: 24 });
      expect(screen.lines[0]).toBe("got:one two");
      expect(succeed(await run("screen", "--at", "11", id))).toBe("got:one two\n");
      expect(await run("screen", "--at", "99999", id)).toMatchObject({ code: 2, stdout: "" });
      succeed(await run("interrupt", id));
      expect((await run("wait", "--for", "exit", id)).code).toBe(130);
      expect(await run("wait", "--text", "never", id)).toMatchObject({ code: 1, stdout: "" });
      expect(await run("send", "too late", "--to", id)).toMatchObject({ code: 5, stdout: "" });
      expect(succeed(await run("logs", "--to", id)).replaceAll("\r", "")).toBe("got:one two\nab\n");
    });

    test("logs has both channels, from an offset, and follows to the end", async () => {
      const { run, reins, where } = control;
      const script = "echo out; echo err >&2; until [ -e go ]; do sleep 0.05; done; echo last";
      const id = await reins.detach(["--no-tty", "--", "sh", "-c", script]);
      succeed(await run("wait", "--text", "err", id));
      expect(await run("logs", id)).toMatchObject({ code: 0, stdout: "out\n", stderr: "err\n" });
      expect(await run("logs", "--since", "2", "--to", id)).toMatchObject({ stdout: "t\n" });
      expect(await run("logs", "--since", "tail", id)).toMatchObject({ code: 0, stdout: "" });
      const following = reins.start(["logs", "-f", "--json", id, ...where]);
      await following.says('"err\\n"');
      writeFileSync(join(reins.path, "go"), "");
      const frames = (await following.ended).stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(frames).toMatchObject([
        { type: "stdout", offset: 0, data: "out\n" },
        { type: "stderr", offset: 4, data: "err\n" },
        { type: "stdout", offset: 8, data: "last\n" },
        { type: "exit", exit_code: 0, tail: 13 },
      ]);
    });
  },
);

describe.each(ways)("a terminal or a command, %s", { timeout: SLOW_MS }, (way) => {
  let control: Control;
  beforeAll(async () => {
    control = await controlOf(way);
  });

  test("send submits to a full-screen agent, and presses keys by name", async () => {
    const { run, reins } = control;
    const id = await reins.detach(["--tty", "--", process.execPath, screenAgent]);
    succeed(await run("wait", "--text", "╰──", id));
    succeed(await run("send", "Fix the tests.", "--to", id));
    const answer = "you wrote 1 lines, the last is Fix the tests.";
    succeed(await run("wait", "--text", answer, id));
    succeed(await run("send", "one\ntwo", "--key", "enter", "--to", id));
    succeed(await run("wait", "--text", "you wrote 2 lines, the last is two", id));
    const refused = await run("send", "--key", "down,entre", "--to", id);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/"entre".*pageup/s) });
    succeed(await run("send", "--key", "ctrl+c", "--to", id));
    expect((await run("wait", "--for", "exit", id)).code).toBe(0);
  });

  test("a wait that nothing ends is over in time, and the session goes on", async () => {
    const id = await control.reins.detach(["--no-tty", "--", "sleep", "600"]);
    const late = await control.run("wait", "--text", "x", "--timeout", "200ms", "--json", id);
    expect(late.code).toBe(124);
    expect(JSON.parse(late.stdout)).toMatchObject({ matched: false, ended: false });
    expect((await control.run("wait", "--for", "exit", "--timeout", "0", id)).code).toBe(124);
    expect(await control.run("wait", "--for", "needs-answer", id)).toMatchObject({ code: 12 });
    const closed = await control.run("close", "--to", id, "--json");
    expect(JSON.parse(closed.stdout)).toMatchObject({
      session_id: id,
      state: { kind: "exited" },
    });
  });

  test("an exported asciicast is one, and so are the others what they say", async () => {
    const { run, reins } = control;
    const say =
      "printf 'h\\303\\251 \\033[1mbold\\033[0m\\n'; seq 200; printf '\\303'; sleep 0.1; printf '\\251\\377\\n'";
    const id = await reins.detach(["--tty", "--title", 'A "title"', "--", "sh", "-c", say]);
    expect((await run("wait", "--for", "exit", id)).code).toBe(0);
    const file = join(reins.path, "demo.cast");
    const saved = await run("export", "--format", "asciicast", "-o", file, id);
    expect(saved).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("demo.cast"),
    });
    const cast = readFileSync(file, "utf8");
    expect(checkCast(cast)).toMatchObject({
      version: 2,
      width: 80,
      height: 24,
      title: 'A "title"',
    });
    const printed = cast
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line)[2])
      .join("");
    expect(printed).toContain("hé \u001b[1mbold\u001b[0m\r\n1\r\n2\r\n");
    expect(printed).toContain("200\r\né\ufffd\r\n");
    expect(readdirSync(reins.path).filter((name) => name.includes("part"))).toEqual([]);
    expect(succeed(await run("export", id))).toMatch(/^hé bold\n1\n2\n/);
    expect(JSON.parse(succeed(await run("export", "-f", "json", id)))).toHaveProperty("session");
    expect(succeed(await run("export", "-f", "markdown", id))).toContain("hé bold");
    expect(await run("export", "-f", "gif", id)).toMatchObject({ code: 2, stdout: "" });
    const nowhere = join(reins.path, "no", "where.txt");
    expect(await run("export", "-o", nowhere, id)).toMatchObject({ code: 2, stdout: "" });
    expect(succeed(await run("export", "-o", "/dev/null", id))).toBe("");
  });
});

test("a long export says how far it is, beside the data, and leaves no half when it is interrupted", async () => {
  const control = await controlOf("local");
  const { run, reins } = control;
  const id = await reins.detach([
    "--no-tty",
    "--",
    "sh",
    "-c",
    "head -c 20000000 /dev/zero | tr '\\0' x",
  ]);
  expect((await run("wait", "--for", "exit", id)).code).toBe(0);
  const { code, stdout, stderr } = await run("export", "--format", "text", id);
  expect([code, stdout.replaceAll("x", "").trim()]).toEqual([0, ""]);
  expect(stdout.trimEnd()).toHaveLength(20_000_000);
  expect(stderr).toMatch(/^reins: 8 MiB so far\nreins: 16 MiB so far\n$/);
  const folder = join(reins.path, "saved");
  mkdirSync(folder);
  const saving = reins.start(["export", "-f", "asciicast", "-o", join(folder, "a.cast"), id]);
  await waitFor("it has begun", () => readdirSync(folder).length);
  saving.child.kill("SIGINT");
  expect(await saving.ended).toMatchObject({ code: 130, stdout: "" });
  expect(readdirSync(folder)).toEqual([]);
});

test("who does not control a terminal types into it by taking over", async () => {
  const control = await controlOf("local");
  const { run, reins } = control;
  const id = await reins.detach(["--tty", "--", "cat"]);
  // A script that pretends to be a person at a terminal.
  const holder = await reins.detach(["--tty", "--", "reins", "attach", id]);
  succeed(await run("send", "by hand", "--to", holder));
  succeed(await run("wait", "--text", "by hand", id));
  const refused = await run("send", "from here", "--to", id);
  expect(refused).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("controls this session"),
  });
  succeed(await run("send", "from here", "--takeover", "--to", id));
  succeed(await run("wait", "--text", "from here", id));
});

/** By the format's own words: a header, then events `[seconds, code, text]` whose times never go back. */
function checkCast(cast: string): Record<string, unknown> {
  const [first = "", ...lines] = cast.trimEnd().split("\n");
  const header: Record<string, unknown> = JSON.parse(first);
  expect(header).toMatchObject({
    version: 2,
    width: expect.any(Number),
    height: expect.any(Number),
  });
  expect(Number.isInteger(header.timestamp)).toBe(true);
  expect(lines.length).toBeGreaterThan(0);
  let last = 0;
  for (const line of lines) {
    const [at, code, text, ...rest]: unknown[] = JSON.parse(line);
    expect([typeof at, typeof text, rest]).toEqual(["number", "string", []]);
    expect(["o", "i", "m", "r"]).toContain(code);
    expect(Number(at)).toBeGreaterThanOrEqual(last);
    last = Number(at);
  }
  return header;
}
