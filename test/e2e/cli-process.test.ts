import { expect, test } from "vitest";
import { commands } from "#cli/commands.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";

const { lease } = keepReins();

/** They serve until they are stopped: their own tests start each in a process. */
const SERVING = ["serve", "proto", "agent"];

/** One of each kind: a run, waits, streams, a question to the host, an end, and what asks no host. */
const KINDS = new Set(["run", "wait", "attach", "logs", "watch", "interrupt", "close", "doctor"]);

type Row = readonly [args: readonly string[], code: number, stdout?: string];

/** In this order: the last ones end the sessions that the first ones need. */
function listCommands({
  terminal,
  doomed,
  ended,
}: Record<"terminal" | "doomed" | "ended", string>): readonly Row[] {
  return [
    [["run", "--", "echo", "run"], 0, "run\n"],
    [["exec", "--", "echo exec"], 0, "exec\n"],
    [["wait", "--text", "ready", terminal], 0, "ready\n"],
    [["wait", ended], 0],
    [["signal", doomed, "TERM"], 0],
    [["attach", ended], 0, ""],
    [["ps"], 0],
    [["logs", terminal], 0, "ready\r\n"],
    [["logs", "-f", ended], 0, ""],
    [["screen", terminal], 0, "ready\n"],
    [["send", "--to", terminal, "x"], 0],
    [["interrupt", terminal], 0],
    [["watch", ended], 0],
    [["export", ended], 0],
    [["answer", "--to", terminal, "approve"], 12],
    [["fork", terminal], 12],
    [["close", terminal], 0, `${terminal} SIGINT\n`],
    [["open"], 8],
    [["token", "list"], 0],
    [["workspace", "list"], 0],
    [["task", "list"], 0],
    [["doctor", "--json"], 0],
    [["completion", "bash"], 0],
    [["host", "status"], 0],
  ];
}

test("every command is in the table of processes that end, or serves until it is stopped", () => {
  const table = listCommands({ terminal: "", doomed: "", ended: "" });
  const named = new Set(table.map(([[name = ""]]) => name));
  expect([...named, ...SERVING].toSorted()).toEqual(Object.keys(commands).toSorted());
  expect([...KINDS.difference(named)]).toEqual([]);
});

/**
 * Other tests run commands inside a process that stays. Here each has a process, which has to end by itself: one of each
 * kind in `npm test`, every command of the table in `npm run soak`.
 */
test("the process of a command of each kind ends by itself, with the exit code of the command", async () => {
  await using reins = await lease();
  const terminal = await reins.detach(["--tty", "--", "sh", "-c", "echo ready; exec cat"]);
  const doomed = await reins.detach(["--", "sleep", "1000"]);
  await waitFor("the terminal prints", async () => (await reins.session(terminal)).tail > 0);
  succeed(await reins.run(["run", "--title", "done", "--", "true"]));
  const ended = (await reins.sessions()).find(({ title }) => title === "done")?.session_id ?? "";
  const all = listCommands({ terminal, doomed, ended });
  const few = all.filter(([[name = ""]]) => KINDS.has(name));
  const started = rows({ few, full: all });
  const results = [];
  for (const [args] of started) results.push([args, await reins.start(args).ended] as const);
  expect(results).toEqual(
    started.map(([args, code, stdout = expect.any(String)]) => [
      args,
      { code, signal: null, stdout, stderr: expect.any(String) },
    ]),
  );
});
