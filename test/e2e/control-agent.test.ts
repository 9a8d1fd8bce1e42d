import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Control,
  eventLines,
  keepControls,
  LONG_MS,
  SLOW_MS,
  type Way,
  waitForEvent,
} from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";

const controlOf = keepControls();
const ways = rows<Way>({ few: ["local"], full: ["local", "remote"] });

const isType = (type: string) => (event: Record<string, unknown>) => event.type === type;

async function waitForEvents(
  { logOf }: Control,
  id: string,
  { type, count }: { readonly type: string; readonly count: number },
): Promise<void> {
  const found = () => logOf(id).filter((line) => JSON.parse(line).type === type).length;
  await waitFor(`${count} of ${type}`, () => found() === count, { timeout: LONG_MS });
}

/** A host and a server differ in these. */
describe.each(["local", "remote"] as const)("an agent, %s", { timeout: SLOW_MS }, (way) => {
  let control: Control;
  beforeAll(async () => {
    control = await controlOf(way);
  });

  test("send begins a turn, steers the one that runs and queues what comes next", async () => {
    const { run, reins } = control;
    const id = await control.agent();
    const sent = await control.feed("work hard\n\n", "send", "-", "--to", id, "--json");
    expect(sent.stderr).toBe(`reins: sent to ${id}\n`);
    expect(JSON.parse(sent.stdout)).toMatchObject({
      session_id: id,
      how: "message",
      status: "started",
    });
    await waitForEvent(reins, id, isType("tool.call.end"));
    const steered = await run("send", "turn left", "--framing=replacement", "--to", id);
    expect(steered).toMatchObject({
      code: 0,
      stdout: "",
      stderr: `reins: said into the turn of ${id}\n`,
    });
    const queued = await run("send", "And then?", "--followup", "--to", id);
    expect(queued.stderr).toBe(`reins: queued as number 1 for ${id}\n`);
    expect((await run("wait", "--for", "idle", "--timeout", "0", id)).code).toBe(124);
    const idle = run("wait", "--for", "idle", id);
    writeFileSync(join(reins.path, "done"), "");
    expect(await idle).toMatchObject({ code: 0, stdout: "" });
    const said = control
      .logOf(id)
      .map((line) => JSON.parse(line))
      .filter(isType("message.user"));
    expect(said.map(({ origin, framing, content }) => [origin, framing, content[0].text])).toEqual([
      ["message", undefined, "Begin."],
      ["message", undefined, "work hard"],
      ["steer", "replacement", expect.stringContaining("turn left")],
      ["followup", undefined, "And then?"],
    ]);
  });

  test("watch prints the log's own lines and ends with the session", async () => {
    const { reins, where } = control;
    const id = await control.agent();
    const watching = reins.start(["watch", id, ...where]);
    await watching.says("turn.ended");
    succeed(await control.run("send", "Héllo \u{1f600}\u2028", "--to", id));
    await waitForEvent(
      reins,
      id,
      (event) => event.type === "message.user" && event.turn_id !== undefined,
    );
    succeed(await control.run("wait", "--for", "idle", id));
    succeed(await control.run("close", "--to", id));
    const { code, stdout, stderr } = await watching.ended;
    expect(code).toBe(0);
    expect(stderr).toBe(`reins: watching ${id}; Ctrl-C leaves\n`);
    expect(stdout.split("\n").slice(0, -1)).toEqual(eventLines(control.logOf(id)));
    for (const line of stdout.trimEnd().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ session_id: id, type: expect.any(String) });
    // Of one that has ended it is all there is, then the end.
    expect((await control.run("watch", id)).stdout).toBe(stdout);
    expect(await control.run("watch", "--since", "tail", id)).toMatchObject({
      code: 0,
      stdout: "",
    });
    const pretty = await control.run("watch", "--pretty", id);
    expect(pretty.stdout).toMatch(/^\d\d:\d\d:\d\d message\.user +Begin\.$/m);
    expect(pretty.stdout).not.toMatch(/delta|\u2028/);
  });
});

describe.each(ways)("an agent, %s", { timeout: SLOW_MS }, (way) => {
  let control: Control;
  beforeAll(async () => {
    control = await controlOf(way);
  });

  test("Ctrl-C leaves a watch with 0, and --since goes on where another ended", async () => {
    const { reins, where } = control;
    const id = await control.agent();
    const all = control.logOf(id);
    const first = reins.start(["watch", "--to", id, ...where]);
    await first.says("session.title");
    first.child.kill("SIGINT");
    expect(await first.ended).toMatchObject({ code: 0, signal: null });
    const skipped = all.slice(0, 3);
    const since = Buffer.byteLength(skipped.map((line) => `${line}\n`).join(""));
    const second = reins.start(["watch", "--to", id, "--since", String(since), ...where]);
    await second.says("session.title");
    second.child.kill("SIGINT");
    expect((await second.ended).stdout.trimEnd().split("\n")).toEqual(eventLines(all.slice(3)));
    expect(await control.run("watch", "--since", String(since + 1), id)).toMatchObject({
      code: 2,
      stdout: "",
    });
  });

  test("answer decides and fills in; what is not pending is exit code 5", async () => {
    const { run } = control;
    const id = await control.agent();
    expect(await run("answer", "approve", "--to", id)).toMatchObject({ code: 5, stdout: "" });
    succeed(await run("send", "write", "--to", id));
    expect(await run("wait", "--for", "needs-answer", id)).toMatchObject({ code: 0 });
    expect((await run("answer", "--to", id)).stdout).toMatch(
      /^apr_\w+ .*write_file \{"path":"note.txt"/,
    );
    expect(await run("answer", "colour=blue", "--to", id)).toMatchObject({ code: 2 });
    expect(await run("answer", "approve", "--id", "apr_0", "--to", id)).toMatchObject({ code: 5 });
    const rejected = await run("answer", "reject", "--reason", " Not now. ", "--to", id);
    expect(rejected.stderr).toMatch(/^reins: answered apr_\w+ of ses_\w+: reject\n$/);
    const refused = await run("wait", "--text", "It was refused.", id);
    expect(refused).toMatchObject({ code: 0, stdout: "It was refused.\n" });
    expect(control.logOf(id).join("\n")).toContain('"reason":"Not now."');
    succeed(await run("send", "ask me", "--to", id));
    succeed(await run("wait", "--for=needs-answer", id));
    expect((await run("answer", "--to", id)).stdout).toMatch(
      /^eli_\w+ Which colour\?\n {2}\w+=red\|blue/,
    );
    const field = /^ {2}(\w+)=/m.exec((await run("answer", "--to", id)).stdout)?.[1] ?? "";
    expect(await run("answer", "approve", "--to", id)).toMatchObject({ code: 2 });
    expect(await run("answer", `${field}=green`, "--to", id)).toMatchObject({ code: 2 });
    const filled = await run("answer", `${field}=blue`, "--json", "--to", id);
    expect(JSON.parse(filled.stdout)).toMatchObject({
      action: "accept",
      content: { [field]: "blue" },
    });
    succeed(await run("wait", "--regex", "^Blue \\w+ is", id));
    succeed(await run("send", "ask me", "--to", id));
    succeed(await run("wait", "--for=needs-answer", id));
    succeed(await run("answer", "--decline", "--to", id));
    succeed(await run("wait", "--text", "None it is.", "--to", id));
  });

  test("several questions want an id; approve-tool answers for the tool", async () => {
    const { run } = control;
    const id = await control.agent();
    succeed(await run("send", "write", "--to", id));
    succeed(await run("wait", "--for=needs-answer", id));
    succeed(await run("answer", "approve-tool", "--to", id));
    succeed(await run("wait", "--text", "It is written.", id));
    succeed(await run("send", "write", "--to", id));
    succeed(await run("wait", "--for", "idle", id));
    const log = control.logOf(id).map((line) => JSON.parse(line));
    expect(log.filter(isType("approval.requested"))).toHaveLength(1);
    expect(log.filter(isType("approval.resolved"))).toMatchObject([{ decision: "approve_tool" }]);
    succeed(await run("send", "ask twice", "--to", id));
    await waitForEvents(control, id, { type: "elicitation.requested", count: 2 });
    const asked = succeed(await run("answer", "--to", id));
    const [first = "", second = ""] = [...asked.matchAll(/^eli_\w+/gm)].map(([one]) => one);
    const several = await run("answer", "--decline", "--to", id);
    expect(several).toMatchObject({
      code: 9,
      stderr: expect.stringContaining(`${first} and ${second}`),
    });
    succeed(await run("answer", "--decline", "--id", second, "--to", id));
    succeed(await run("answer", "--decline", "--to", id));
    succeed(await run("wait", "--for", "idle", id));
    const answered = control.logOf(id).map((line) => JSON.parse(line));
    expect(answered.filter(isType("elicitation.resolved"))).toMatchObject([
      { elicitation_id: second, action: "decline" },
      { elicitation_id: first, action: "decline" },
    ]);
  });

  test("interrupt ends the turn; fork and export take the words along", async () => {
    const { run, reins } = control;
    const id = await control.agent();
    expect(await run("interrupt", id)).toMatchObject({ code: 5, stdout: "" });
    succeed(await run("send", "for ever", "--to", id));
    expect(await run("interrupt", "--to", id)).toMatchObject({
      code: 0,
      stderr: `reins: interrupted ${id}\n`,
    });
    succeed(await run("wait", "--for", "idle", id));
    expect(
      control
        .logOf(id)
        .map((line) => JSON.parse(line))
        .findLast(isType("turn.ended")),
    ).toMatchObject({ reason: "interrupted" });
    const forked = JSON.parse((await run("fork", "--at", "2", "--to", id, "--json")).stdout);
    expect(forked).toMatchObject({ from: id, at: 2 });
    const whole = succeed(await run("fork", id)).trim();
    expect(whole).toMatch(/^ses_\w{16}$/);
    expect((await run("fork", "--at", "99", id)).code).toBe(2);
    const words = async (session: string) => succeed(await run("export", session));
    expect(await words(forked.session_id)).toContain("Done.");
    expect(await words(forked.session_id)).not.toContain("for ever");
    expect(await words(whole)).toContain("for ever");
    const file = join(reins.path, "agent.json");
    const saved = await run("export", "--format", "json", "-o", file, "--json", id);
    expect(JSON.parse(saved.stdout)).toMatchObject({ session_id: id, format: "json", file });
    expect(await run("export", "--format", "asciicast", id)).toMatchObject({
      code: 12,
      stdout: "",
    });
    expect(await run("screen", id)).toMatchObject({ code: 12, stdout: "" });
  });
});

test(
  "commands for processes and terminals say what an agent takes instead",
  async () => {
    const control = await controlOf("local");
    const id = await control.agent();
    const late = await control.run("wait", "--timeout", "1s", id);
    expect(late).toMatchObject({ code: 124, stderr: expect.stringContaining(`${id} goes on`) });
    expect(await control.run("signal", id, "TERM")).toMatchObject({
      stderr: expect.stringContaining(`reins interrupt ${id}`),
    });
    // Its stdin is not a terminal.
    expect(await control.run("attach", id)).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining(`reins watch ${id}`),
    });
    await control.run("close", id);
    expect((await control.run("wait", id)).code).toBe(0);
  },
  SLOW_MS,
);
