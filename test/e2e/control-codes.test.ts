import { expect, test } from "vitest";
import { openControl, SLOW_MS, startAgent } from "#test/harness/control.ts";
import { succeed } from "#test/harness/reins.ts";

const NOBODY = "ses_0000000000000000";
const COMMANDS = ["send", "watch", "answer", "interrupt", "wait", "screen", "fork", "export"];

/** What a command is called with when nothing is said but what it cannot do without. */
function least(command: string): string[] {
  if (command === "send") return ["send", "hello"];
  return command === "wait" ? ["wait", "--for", "exit"] : [command];
}

test("every command says by its exit code what went wrong, and nothing on stdout", {
  timeout: SLOW_MS,
}, async () => {
  await using control = await openControl("remote");
  const { reins, where } = control;
  const [, url = ""] = where;
  const sleeping = await reins.detach(["--no-tty", "--", "sleep", "600"]);
  const agent = await startAgent(reins);
  const table: [code: number, said: RegExp, args: string[]][] = [
    ...COMMANDS.map((name): [number, RegExp, string[]] => [
      8,
      /reins run/,
      [...least(name), "--to", NOBODY],
    ]),
    ...COMMANDS.map((name): [number, RegExp, string[]] => [
      9,
      /could be ses_/,
      [...least(name), "--to", "ses_"],
    ]),
    [4, /REINS_TOKEN/, ["watch", "--remote", "http://example.com"]],
    [2, /does not look like http/, ["watch", "--remote", "example"]],
    [8, /reins run/, ["screen", "--to", NOBODY, "--remote", url]],
    [2, /say what to send/, ["send"]],
    [2, /put it in quotes/, ["send", "two", "words"]],
    [2, /plain, instruction, replacement/, ["send", "x", "--framing", "loud", "--to", agent]],
    [2, /--followup/, ["send", "x", "--framing", "plain", "--followup", "--to", agent]],
    [2, /empty/, ["send", " ", "--to", agent]],
    [12, /--followup says nothing/, ["send", "x", "--followup", "--to", sleeping]],
    [12, /--takeover says nothing/, ["send", "x", "--takeover", "--to", agent]],
    [2, /neither an offset/, ["watch", "--since", "soon"]],
    [2, /exclude/, ["watch", "--pretty", "--json"]],
    [5, /waits for no answer/, ["answer", "--to", agent]],
    [12, /./, ["answer", "approve", "--to", sleeping]],
    [5, /waits for no answer/, ["answer", "maybe", "--to", agent]],
    [2, /--reason is for reject/, ["answer", "approve", "--reason", "because", "--to", agent]],
    [5, /nothing runs/, ["interrupt", agent]],
    [2, /none of exit, idle/, ["wait", "--for", "luck", agent]],
    [2, /--text TEXT/, ["wait", "--for", "text", agent]],
    [2, /--regex/, ["wait", "--regex", "(", agent]],
    [2, /says nothing when exit/, ["wait", "--for", "exit", "--text", "x", agent]],
    [12, /only an agent asks/, ["wait", "--for", "needs-answer", sleeping]],
    [124, /did not come in time/, ["wait", "--text", "never", "--timeout", "50ms", agent]],
    [12, /./, ["screen", agent]],
    [12, /./, ["fork", sleeping]],
    [2, /how many messages/, ["fork", "--at", "x", agent]],
    [2, /none of asciicast/, ["export", "--format", "gif", agent]],
    [12, /json or markdown/, ["export", "--format", "asciicast", agent]],
    [2, /-o FILE/, ["export", "--json", agent]],
    [2, /say which/, ["close", "--to", " "]],
    [8, /reins run/, ["close", "--to", NOBODY, "--remote", url]],
    [8, /reins run/, ["logs", "--to", NOBODY, "--remote", url]],
    [3, /no task/, ["run", "-d", "--task", "tsk_none", "--", "true"]],
    [2, /leave --task away/, ["run", "-d", "--session", agent, "--task", "tsk_none"]],
  ];
  const results: unknown[] = [];
  for (const [, , args] of table) {
    const { code, stdout, stderr } = await reins.run(args);
    results.push([code, stdout, stderr, args]);
  }
  expect(results).toEqual(
    table.map(([code, said, args]) => [code, "", expect.stringMatching(said), args]),
  );
});

test("run --detach says all prompts and leaves; --task makes it the task's", {
  timeout: SLOW_MS,
}, async () => {
  await using control = await openControl("local");
  const { reins, run } = control;
  const id = succeed(
    await reins.run(["run", "team.yaml", "-d", "--safety=autonomous", "write", "Two.", "-"], {
      input: "Three.",
    }),
  ).trim();
  succeed(await run("wait", "--for", "idle", "--to", id));
  const said = control.logOf(id).map((line) => JSON.parse(line));
  expect(
    said.filter(({ type }) => type === "message.user").map(({ content }) => content[0].text),
  ).toEqual(["write", "Two.", "Three."]);
  expect(said.filter(({ type }) => type === "approval.requested")).toEqual([]);
  expect(said.filter(({ type }) => type === "turn.ended")).toHaveLength(3);
  expect(succeed(await reins.run(["run", "-d", "--session", "-1", "Four."])).trim()).toBe(id);
  expect(succeed(await run("wait", "--for", "idle", id))).toBe("");
  const task = succeed(await reins.run(["task", "create", "bin"])).trim();
  const terminal = succeed(await reins.run(["run", "-d", "--task", task, "--json"]));
  expect(JSON.parse(terminal)).toMatchObject({
    kind: "terminal",
    task_id: task,
    work_dir: expect.stringMatching(/bin$/),
  });
  const agent = succeed(await reins.run(["run", "-d", "--task", task, "team.yaml"])).trim();
  expect(await reins.session(agent)).toMatchObject({ kind: "agent", task_id: task });
});
