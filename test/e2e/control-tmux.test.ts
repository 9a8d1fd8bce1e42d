import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Control, eventLines, openControl, SLOW_MS } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { startProto } from "#test/harness/proto.ts";
import { type ListedSession, succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";
import { openTerminals } from "#test/harness/terminal-screen.ts";
import { openTmux } from "#test/harness/tmux.ts";

/** Who serves while the commands run, and what becomes of it in the middle. */
type Gateway = "absent" | "present" | "killed";

async function openGateway(gateway: Gateway, { reins }: Control) {
  if (gateway === "absent")
    return { kill: async () => undefined, [Symbol.asyncDispose]: async () => undefined };
  const served = await openGatewayProcess({ dataDir: reins.home });
  const kill = async () => (gateway === "killed" ? await served.kill("SIGKILL") : undefined);
  return { kill, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

/** One for all: each test has panes and a run of its own, which is over when it ends. */
let control: Control;
let tmux: ReturnType<typeof openTmux>;
let own: ReturnType<typeof openTerminals>;
beforeAll(async () => {
  control = await openControl("local");
  tmux = openTmux(control.reins);
  own = openTerminals(control.reins);
});
afterAll(async () => {
  tmux[Symbol.dispose]();
  own[Symbol.dispose]();
  await control[Symbol.asyncDispose]();
});

/** One that is killed was present before. */
const gateways = rows<Gateway>({
  few: ["absent", "killed"],
  full: ["absent", "present", "killed"],
});

describe.each(gateways)("while the gateway is %s", { timeout: SLOW_MS }, (state) => {
  /** A real tmux once; what a gateway changes is the same in any terminal. */
  const open = () => (state === "absent" ? tmux.open() : own.open());

  test("a run of one terminal is steered from others", async () => {
    const { reins, run } = control;
    const [runner, watcher] = [await open(), await open()];
    for (const name of ["note.txt", "watched"]) rmSync(join(reins.path, name), { force: true });
    runner.enter("reins run team.yaml write");
    const id = await findRun(control, "agent");
    await using gateway = await openGateway(state, control);
    watcher.enter("reins watch > watched");
    const watched = join(reins.path, "watched");
    await waitFor("it watches", () => existsSync(watched) && statSync(watched).size > 0, {
      timeout: 30_000,
    });
    expect(await run("wait", "--for", "needs-answer", "--timeout", "30s")).toMatchObject({
      code: 0,
    });
    await gateway.kill();
    expect((await run("answer", "approve")).stderr).toMatch(new RegExp(`of ${id}: approve\n$`));
    await runner.shows("It is written.");
    expect(succeed(await run("wait", "--text", "It is written."))).toBe("It is written.\n");
    succeed(await run("wait", "--for", "idle"));
    expect(readFileSync(join(reins.path, "note.txt"), "utf8")).toBe("noted\n");
    succeed(await run("send", "for ever"));
    succeed(await run("interrupt"));
    succeed(await run("wait", "--for", "idle"));
    succeed(await run("close", id));
    await watcher.prompts("out$");
    const lines = readFileSync(watched, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(
      control
        .logOf(id)
        .map((line) => JSON.parse(line).type)
        .filter((type) => type !== "reply"),
    );
    expect(
      lines.filter((line) => line.includes('"turn.ended"')).map((line) => JSON.parse(line).reason),
    ).toEqual(["done", "interrupted"]);
  });

  test("a shell of one terminal is seen, typed into and waited for from others", async () => {
    const { run } = control;
    const runner = await open();
    runner.enter("reins run -- env PS1='in$ ' bash --norc --noprofile -i");
    await runner.prompts("in$");
    const id = await findRun(control, "terminal");
    await using gateway = await openGateway(state, control);
    runner.enter("echo $((6 * 7))");
    expect(succeed(await run("wait", "--regex", "^42", "--timeout", "30s"))).toBe("42\n");
    await gateway.kill();
    await runner.prompts("in$");
    expect(succeed(await run("screen"))).toBe("in$ echo $((6 * 7))\n42\nin$\n");
    expect((await run("send", "exit 3")).code).toBe(5);
    succeed(await run("send", "exit 3", "--takeover"));
    expect((await run("wait", "--for", "exit", "--to", id)).code).toBe(3);
    await runner.prompts("out$");
  });

  test("a program and another terminal get to the same run", async () => {
    const { reins, run } = control;
    const [runner, other] = [await open(), await open()];
    runner.enter("reins run -- env PS1='in$ ' bash --norc --noprofile -i");
    await runner.prompts("in$");
    const id = await findRun(control, "terminal");
    await using gateway = await openGateway(state, control);
    const proto = await startProto(reins, ["--to", id]);
    expect(proto.lines()[0]).toMatchObject({ type: "ready", session_id: id, kind: "terminal" });
    await gateway.kill();
    other.enter(`reins attach --takeover ${id}`);
    await other.prompts("in$");
    other.enter("echo $((6 * 7))");
    await runner.shows(/^42$/m);
    expect(await proto.ask({ id: 1, type: "status" })).toMatchObject({ id: 1 });
    proto.running.child.stdin?.end();
    expect((await proto.running.ended).code).toBe(0);
    succeed(await run("close", id));
    await other.prompts("out$");
    await runner.prompts("out$");
  });
});

async function findRun({ reins }: Control, kind: string): Promise<string> {
  return await waitFor(
    `a run of the kind ${kind}`,
    async () =>
      (await reins.sessions()).find((one) => one.kind === kind && isRunning(one))?.session_id,
    { timeout: 30_000 },
  );
}

function isRunning({ state }: ListedSession): boolean {
  return state.kind === "running";
}

test("a watch over a server goes on where it was when the server was killed and is back", {
  timeout: SLOW_MS,
}, async () => {
  const { reins } = control;
  const id = await control.agent();
  await using first = await openGatewayProcess({ dataDir: reins.home });
  const watching = reins.start(["watch", id, "--remote", first.door.url]);
  await watching.says("session.title");
  await first.kill("SIGKILL");
  succeed(await control.run("send", "turn left", "--to", id));
  succeed(await control.run("wait", "--text", "Turned left.", id));
  await using _second = await openGatewayProcess({ dataDir: reins.home, port: first.port });
  await watching.says("Turned left.");
  succeed(await control.run("close", id));
  const { code, stdout } = await watching.ended;
  expect(code).toBe(0);
  const types = (lines: string[]) => lines.map((line) => JSON.parse(line).type);
  expect(types(stdout.trimEnd().split("\n"))).toEqual(
    types(control.logOf(id)).filter((type) => type !== "reply"),
  );
});

test("a watch goes on when the host was killed and is back", { timeout: SLOW_MS }, async () => {
  await using control = await openControl("local");
  const { reins } = control;
  const id = await control.agent();
  const watching = reins.start(["watch", id]);
  await watching.says("session.title");
  const before = await reins.hostPid();
  process.kill(before ?? 0, "SIGKILL");
  // The watch has asked again, and so a host is there whose agent is parked.
  await waitFor("another host", async () => {
    // While one goes and the other comes the socket may be cut in the middle of a word.
    const pid = await reins.hostPid().catch(() => undefined);
    return pid !== undefined && pid !== before;
  });
  succeed(await control.run("send", "turn left", "--to", id));
  await watching.says("Turned left.");
  succeed(await control.run("close", id));
  const { code, stdout } = await watching.ended;
  expect(code).toBe(0);
  // Each line once, whatever was cut in between.
  expect(stdout.trimEnd().split("\n")).toEqual(eventLines(control.logOf(id)));
});
