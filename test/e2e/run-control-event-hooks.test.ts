import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";
import { scripted } from "#test/harness/runtimes.ts";

const { lease } = keepReins();

const STEPS = [{ text: "First." }, { text: "Later.", repeat: true }];

function writeTeam(reins: Reins): void {
  writeFileSync(join(reins.path, "team.yaml"), scripted(STEPS));
}

function linesOf(reins: Reins, file: string): string[] {
  const path = join(reins.path, file);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}

const typesOf = (lines: readonly string[]): string[] => lines.map((line) => JSON.parse(line).type);
const hooksOf = (...hooks: readonly string[]) => hooks.flatMap((hook) => ["--on-event", hook]);

describe("event hooks", () => {
  test("get every event of a headless run in order, byte for byte, the last one included", async () => {
    await using reins = await lease();
    writeTeam(reins);
    const hooks = hooksOf("*=cat >> all", "turn.ended=cat > last", "message.end=A=b; cat >> $A");
    const done = await reins.run(["run", "team.yaml", "--exec", "--json", ...hooks, "Hello."]);
    const printed = succeed(done).split("\n").slice(0, -1);
    const all = linesOf(reins, "all");
    expect(typesOf(all).slice(0, 1)).toEqual(["session.opened"]);
    // The host has facts of its own between those of the turn.
    expect(all.filter((line) => printed.includes(line))).toEqual(printed);
    expect(linesOf(reins, "last")).toEqual(printed.slice(-1));
    expect(typesOf(linesOf(reins, "b"))).toEqual(["message.end"]);
  });

  test("of a resumed session get only new events", async () => {
    await using reins = await lease();
    writeTeam(reins);
    succeed(await reins.run(["run", "team.yaml", "--exec", "Hello."]));
    const hooks = hooksOf("message.user=cat >> all");
    succeed(await reins.run(["run", "--session=latest", "--exec", ...hooks, "Go on."]));
    const all = linesOf(reins, "all");
    expect(all).toHaveLength(1);
    expect(all[0]).toContain("Go on.");
  });

  test("work for commands, keep the exit code, and work over a server", async () => {
    await using reins = await lease();
    writeTeam(reins);
    const hooks = hooksOf("session.exited=cat >> ended", "session.exited=echo no >&2; exit 9");
    const done = await reins.run(["run", ...hooks, "--", "sh", "-c", "echo out; exit 3"]);
    expect(done).toMatchObject({ code: 3, stdout: "out\n" });
    expect(done.stderr).toContain("session.exited: the command ended with 9: no");
    expect(typesOf(linesOf(reins, "ended"))).toEqual(["session.exited"]);
    await using gateway = await openGatewayProcess({ dataDir: reins.home });
    const remote = ["--remote", `http://127.0.0.1:${gateway.port}`];
    const there = hooksOf("turn.ended=cat >> there");
    succeed(await reins.run(["run", "team.yaml", "--exec", ...remote, ...there, "Hello."]));
    expect(typesOf(linesOf(reins, "there"))).toEqual(["turn.ended"]);
  });

  test("that are invalid are refused before anything is started", async () => {
    await using reins = await lease();
    writeTeam(reins);
    const refused = [
      ["run", "--on-event", "no-equals", "--", "touch", "started"],
      ["run", "--on-event", "=cmd", "--", "touch", "started"],
      ["run", "team.yaml", "--on-event", "=cmd", "Hello."],
      ["run", "team.yaml", "--dry-run", "--on-event", "no-equals"],
      ["run", "-d", "--on-event", "*=true", "--", "touch", "started"],
      ["run", "-d", "team.yaml", "--on-event", "*=true", "Hello."],
      ["run", ...hooksOf(...Array.from({ length: 33 }, () => "*=true")), "--", "touch", "started"],
    ];
    for (const args of refused) {
      const { code, stderr } = await reins.run(args);
      expect([args, code]).toEqual([args, 2]);
      expect(stderr).toContain("--on-event");
    }
    expect(existsSync(join(reins.path, "started"))).toBe(false);
    expect(await reins.sessions()).toEqual([]);
  });

  test("of the config file run for every attached run", async () => {
    await using reins = await lease();
    mkdirSync(reins.home, { recursive: true, mode: 0o700 });
    const config = join(reins.home, "config.yaml");
    writeFileSync(config, "on_event:\n  - type: session.exited\n    command: cat >> configured\n");
    succeed(await reins.run(["run", ...hooksOf("session.exited=cat >> flag"), "--", "true"]));
    succeed(await reins.run(["run", "--", "true"]));
    succeed(await reins.run(["run", "-d", "--", "true"]));
    expect(linesOf(reins, "configured")).toHaveLength(2);
    expect(linesOf(reins, "flag")).toHaveLength(1);
    writeFileSync(config, "on_event:\n  - type: session.exited\n");
    const wrong = await reins.run(["run", "--", "touch", "started"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("config.yaml:2:");
    expect(existsSync(join(reins.path, "started"))).toBe(false);
    writeFileSync(config, "");
  });

  test("run in the user's shell if it is a program with an absolute path", async () => {
    await using reins = await lease();
    const shell = join(reins.path, "my-shell");
    writeFileSync(shell, '#!/bin/sh\necho "$0 $1" >> shells\nexec /bin/sh "$@"\n');
    chmodSync(shell, 0o755);
    const hooked = ["run", ...hooksOf("session.exited=cat >> all"), "--", "true"];
    succeed(await reins.run(hooked, { env: { SHELL: shell } }));
    expect(linesOf(reins, "shells")).toEqual([`${shell} -c`]);
    succeed(await reins.run(hooked, { env: { SHELL: "my-shell" } }));
    expect(linesOf(reins, "shells")).toHaveLength(1);
    expect(linesOf(reins, "all")).toHaveLength(2);
  });

  test("that hang do not delay the run, and are killed at their timeout", async () => {
    await using reins = await lease();
    writeTeam(reins);
    const mark = `62${process.pid}`;
    const hooks = hooksOf(`*=sleep ${mark}`, "turn.ended=cat >> last");
    const running = reins.start(["run", "team.yaml", "--exec", ...hooks, "Hello."]);
    // The answer is there while the first event's command still sleeps.
    await running.says("First.");
    await waitFor("the hook hangs", () => findProcesses(`sleep ${mark}`).length > 0);
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("no time left");
    expect(typesOf(linesOf(reins, "last"))).toEqual(["turn.ended"]);
    await waitFor("nobody sleeps", () => findProcesses(`sleep ${mark}`).length === 0);
  });
});
