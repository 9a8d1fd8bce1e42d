import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "#contract/faults.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { openTestHost } from "#test/harness/host.ts";
import { binPath } from "#test/harness/packaged.ts";
import { openReins, type Reins, succeed } from "#test/harness/reins.ts";
import { scripted } from "#test/harness/runtimes.ts";

/** An agent that runs this line of sh once, with a hook that lists what it sees. */
function writeTeam({ path }: Reins, command: string): string {
  const steps = [
    { when: { last_role: "user" }, tool_calls: [{ tool: "execute", input: { command } }] },
    { text: "Done.", repeat: true },
  ];
  const hooks = { on_user_input: [{ command: "reins ps -a --json > hook.json" }] };
  const agent = { toolsets: [{ type: "shell" }], hooks };
  writeFileSync(join(path, "team.yaml"), scripted(steps, agent));
  return "team.yaml";
}

function read(reins: Reins, name: string): string {
  return readFileSync(join(reins.path, name), "utf8");
}

function idsIn(listed: string): string[] {
  const { sessions }: { sessions: { session_id: string }[] } = JSON.parse(listed);
  return sessions.map(({ session_id }) => session_id);
}

async function runTeam(reins: Reins, team: string): Promise<string> {
  const argv = ["run", team, "--safety", "autonomous", "--json", "go"];
  const stdout = succeed(await reins.run(argv));
  return /ses_[0-9a-z]{16}/.exec(stdout)?.[0] ?? "";
}

test("commands inside an agent see and start its own sessions, and do not end the host", async () => {
  await using reins = await openReins();
  const person = await reins.detach(["--", "sleep", "1000"]);
  const line = [
    "reins run --detach -- sleep 1000 > inner",
    "reins ps -a --json > ps.json",
    `reins logs ${person} 2> logs.err; echo $? > logs.code`,
    `reins close ${person}; echo $? > close.code`,
    "reins host stop 2> stop.err; echo $? > stop.code",
    "env > environment",
  ].join("; ");
  const agent = await runTeam(reins, writeTeam(reins, line));
  const inner = read(reins, "inner").trim();
  const seen = idsIn(read(reins, "ps.json"));
  expect(seen).toEqual(expect.arrayContaining([agent, inner]));
  expect(seen).not.toContain(person);
  expect(idsIn(read(reins, "hook.json"))).toEqual([agent]);
  const code = (name: string) => Number(read(reins, `${name}.code`));
  expect(code("logs")).toBe(code("close"));
  expect(code("stop")).toBe(faults.forbidden.exit);
  expect(read(reins, "stop.err")).toContain("may not stop or upgrade the host");
  expect((await reins.session(person)).state.kind).toBe("running");
  expect(await reins.session(inner)).toMatchObject({ parent_session_id: agent });
  expect(read(reins, "environment")).toContain(`REINS_BOUND_SESSION_ID=${agent}\n`);
  const secret = readFileSync(join(reins.home, "secrets", agent, "secret"), "utf8");
  for (const name of ["environment", "home/host.log", "home/handover.json"])
    if (existsSync(join(reins.path, name))) expect(read(reins, name)).not.toContain(secret);
  expect(await reins.run(["close", agent])).toMatchObject({ code: 0 });
  expect((await reins.session(inner)).state).toMatchObject({
    kind: "exited",
    reason: "parent_closed",
  });
});

test("a person's terminal inside Reins sees every session", async () => {
  await using reins = await openReins();
  const other = await reins.detach(["--", "sleep", "1000"]);
  const stdout = succeed(await reins.run(["run", "--", "reins", "ps", "--json"]));
  expect(idsIn(stdout)).toContain(other);
});

test.skipIf(process.platform !== "linux")(
  "a session's connection stays the session's across an upgrade of the host, and its secret stays right",
  { timeout: 180_000 },
  async () => {
    await using host = await openTestHost();
    await host.create({ argv: ["/bin/sleep", "1000"] });
    const { session_id } = await host.create({ kind: "agent", argv: ["/bin/sleep", "1000"] });
    const dir = locateDataDir(host.dataDir);
    using before = await findHost(dir, { REINS_BOUND_SESSION_ID: session_id });
    await host.client.call("host.upgrade", { command: [process.execPath, binPath] });
    using after = await findHost(dir, { REINS_BOUND_SESSION_ID: session_id });
    for (const client of [before, after]) {
      const listed = await client?.call("session.list", {});
      expect(listed?.sessions.map((session) => session.session_id)).toEqual([session_id]);
    }
    expect((await host.client.call("session.list", {})).sessions).toHaveLength(2);
  },
);
