import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDoor } from "#test/harness/gateway.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openReins, type Reins, succeed } from "#test/harness/reins.ts";

const { lease } = keepReins();

const USAGE = 2;
const NOT_FOUND = 3;
const CONFLICT = 5;

async function json(reins: Reins, args: readonly string[]) {
  return JSON.parse(succeed(await reins.run([...args, "--json"])));
}

test("a token's secret is alone on stdout, and what it may is said to people", async () => {
  await using reins = await openReins();
  const made = await reins.run(["token", "create", "--user", "ada", "--role", "operator"]);
  expect(made.stdout).toMatch(/^\S{20,}\n$/);
  expect(made.stderr).toMatch(/^tok_\w{16}: ada, operator, all workspaces, until it is revoked\./);
  expect(made.stderr).not.toContain(made.stdout.trim());
  const { tokens } = await json(reins, ["token", "list"]);
  expect(tokens).toMatchObject([
    { user_id: "ada", role: "operator", workspaces: "*", expires_at: null },
  ]);
  expect(JSON.stringify(tokens)).not.toContain(made.stdout.trim());
  expect(await reins.hostPid()).toBeUndefined();
});

test("a token is made for workspaces and for a time", async () => {
  await using reins = await lease();
  const one = succeed(await reins.run(["workspace", "create", "one"])).trim();
  const two = succeed(await reins.run(["workspace", "create", "two"])).trim();
  const scope = [
    "--workspace",
    one,
    "--workspace",
    two,
    "--expires",
    "1h30m",
    "--label",
    "ci \x1b[31m",
  ];
  const before = Date.now();
  const token = await json(reins, [
    "token",
    "create",
    "--user",
    "bo",
    "--role",
    "viewer",
    ...scope,
  ]);
  expect(token).toMatchObject({
    user_id: "bo",
    workspaces: [one, two],
    secret: expect.any(String),
  });
  const start = Date.parse(token.expires_at) - 90 * 60_000;
  expect(start).toBeGreaterThanOrEqual(before);
  expect(start).toBeLessThanOrEqual(Date.now());
  await reins.run(["token", "create", "--user", "cy", "--role", "admin"]);
  const table = succeed(await reins.run(["token", "list", "--user", "bo"])).split("\n");
  expect(table[0]).toMatch(/^ID +USER +ROLE +AGE +USED +EXPIRES +WORKSPACES +LABEL$/);
  const row = `^${token.token_id}  bo +viewer +\\d+s +never +in 1h +${one} ${two} +ci {2}\\[31m$`;
  expect(table[1]).toMatch(new RegExp(row));
  expect(table).toHaveLength(3);
});

test("a running server knows what the commands do", async () => {
  await using reins = await lease();
  const server = reins.start(["serve", "--json", "--listen", "127.0.0.1:0"]);
  try {
    await server.says("\n");
    const { listening } = JSON.parse(server.stdout().toString());
    const made = await json(reins, ["token", "create", "--user", "ada", "--role", "operator"]);
    const door = openDoor(listening, made.secret);
    expect(await door.get("caller.get", {})).toMatchObject({ user_id: "ada", role: "operator" });
    const task = succeed(await reins.run(["task", "create"])).trim();
    expect((await door.get("task.list", {})).tasks).toMatchObject([{ task_id: task }]);
    const gone = await reins.run(["token", "revoke", made.token_id]);
    expect(gone).toMatchObject({ code: 0, stdout: `${made.token_id} revoked\n` });
    expect((await door.call("caller.get", {})).status).toBe(401);
    const again = await reins.run(["token", "revoke", made.token_id]);
    expect(again).toMatchObject({
      code: NOT_FOUND,
      stderr: `reins: there is no token ${made.token_id}\n`,
    });
  } finally {
    server.child.kill("SIGTERM");
    await server.ended;
  }
});

test("workspaces are made, listed and deleted unless something is left in them", async () => {
  await using reins = await lease();
  const id = succeed(await reins.run(["workspace", "create", "web \x1b[31m"])).trim();
  expect(id).toMatch(/^wsp_\w{16}$/);
  const table = succeed(await reins.run(["workspace", "list"]));
  expect(table).toMatch(new RegExp(`^${id} +\\d+s +web {2}\\[31m$`, "m"));
  expect((await json(reins, ["workspace", "list"])).workspaces).toHaveLength(2);
  const task = succeed(await reins.run(["task", "create", "--workspace", id])).trim();
  const refused = await reins.run(["workspace", "delete", id, "wsp_0000000000000000"]);
  expect(refused).toMatchObject({ code: CONFLICT, stdout: "" });
  expect(refused.stderr).toContain("reins: there is no workspace wsp_0000000000000000\n");
  succeed(await reins.run(["task", "delete", task]));
  expect(succeed(await reins.run(["workspace", "delete", id]))).toBe(`${id} deleted\n`);
  const local = await reins.run(["workspace", "delete", "wsp_local"]);
  expect(local.code).toBe(CONFLICT);
});

test("tasks are made for a directory, listed and deleted", async () => {
  await using reins = await lease();
  mkdirSync(join(reins.path, "site"));
  const about = ["--issue", "WEB-1", "--prior-session", "claude-7", "--title", "the site"];
  const task = await json(reins, ["task", "create", ...about, "site"]);
  expect(task).toMatchObject({
    workspace_id: "wsp_local",
    work_dir: join(reins.path, "site"),
    issue_id: "WEB-1",
    prior_session_id: "claude-7",
    title: "the site",
  });
  const here = await json(reins, ["task", "create"]);
  expect(here).toMatchObject({ work_dir: reins.path, issue_id: null });
  const table = succeed(await reins.run(["task", "list"])).split("\n");
  expect(table[0]).toMatch(/^ID +WORKSPACE +AGE +ISSUE +TITLE +DIRECTORY$/);
  expect(table).toHaveLength(4);
  const { tasks } = await json(reins, ["task", "list", "--issue", "WEB-1"]);
  expect(tasks).toEqual([task]);
  expect(succeed(await reins.run(["task", "delete", task.task_id]))).toBe(
    `${task.task_id} deleted\n`,
  );
  expect((await reins.run(["task", "delete", task.task_id])).code).toBe(NOT_FOUND);
});

test("another data directory can be named", async () => {
  await using reins = await lease();
  const there = ["--data-dir", join(reins.path, "other")];
  succeed(await reins.run(["workspace", "create", "far", ...there]));
  expect((await json(reins, ["workspace", "list", ...there])).workspaces).toHaveLength(2);
  expect((await json(reins, ["workspace", "list"])).workspaces).toHaveLength(1);
});

test.each([
  [["token"], "say what to do: reins token create|list|revoke"],
  [["token", "toString"], "say what to do"],
  [["token", "create", "--user", "ada"], "say whose it is and what it may"],
  [["token", "create", "--user", "a b", "--role", "viewer"], "--user: a user id has letters"],
  [["token", "create", "--user", "ada", "--role", "king"], "--role: "],
  [
    ["token", "create", "--user", "a", "--role", "admin", "--expires", "soon"],
    '--expires: "soon" is no time',
  ],
  [["token", "create", "--user", "a", "--role", "admin", "--expires", "0s"], "--expires: "],
  [["token", "create", "--user", "a", "--role", "admin", "--workspace", "x"], "--workspace: "],
  [["token", "create", "--user", "a", "--role", "admin", "word"], 'there is no use for "word"'],
  [["token", "revoke"], "say which: reins token revoke ID…"],
  [["token", "revoke", "x"], "x: a token id looks like tok_"],
  [["workspace", "create"], "say its name"],
  [["workspace", "create", " "], '" ": '],
  [["workspace", "delete", ""], "workspace id looks like"],
  [["task", "create", "/no/such/dir"], "/no/such/dir is no directory"],
  [["task", "create", "--workspace", "x"], "--workspace: a workspace id looks like"],
  [["task", "list", "--colour"], "Unknown option '--colour'"],
] as const)("%j is refused in a sentence", async (args, sentence) => {
  await using reins = await lease();
  const { code, stdout, stderr } = await reins.run(args);
  expect({ code, stdout }).toEqual({ code: USAGE, stdout: "" });
  expect(stderr).toContain(sentence);
  expect(stderr.split("\n")).toHaveLength(2);
});

test("a token for a workspace that is not there is not made", async () => {
  await using reins = await lease();
  const scope = ["--workspace", "wsp_0000000000000000"];
  const refused = await reins.run(["token", "create", "--user", "a", "--role", "admin", ...scope]);
  expect(refused).toMatchObject({ code: NOT_FOUND, stdout: "" });
});
