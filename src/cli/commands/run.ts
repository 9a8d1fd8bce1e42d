import { randomUUID } from "node:crypto";
import { fstatSync } from "node:fs";
import { resolve } from "node:path";
import { readEventHooks } from "#cli/hooks/event-hook.ts";
import { openRunHooks } from "#cli/hooks/run-hooks.ts";
import { findDataDir } from "#cli/program/context.ts";
import { parseOptions, parseSeconds, splitCommand } from "#cli/program/options.ts";
import { printableJson } from "#cli/program/printable.ts";
import { markNesting } from "#cli/target/enclosing.ts";
import { LISTEN_VALUED, listenOptions, pickListenFlags } from "#cli/target/listen-options.ts";
import { openClient } from "#cli/target/open-client.ts";
import type { PendingListener } from "#cli/target/start-listener.ts";
import { meansTeam } from "#cli/team/team-word.ts";
import { attachTerminal } from "#cli/terminal/attached.ts";
import { runPiped } from "#cli/terminal/piped.ts";
import { currentSize } from "#cli/terminal/raw-mode.ts";
import { Fault } from "#contract/fault.ts";
import type { TaskId } from "#contract/ids.ts";
import type { OperationInput } from "#contract/operations.ts";

const options = {
  detach: { type: "boolean", short: "d" },
  json: { type: "boolean" },
  tty: { type: "boolean" },
  name: { type: "string" },
  title: { type: "string" },
  cwd: { type: "string" },
  "idle-timeout": { type: "string" },
  lifetime: { type: "string" },
  task: { type: "string" },
  remote: { type: "string" },
  "on-event": { type: "string", multiple: true },
  ...listenOptions,
} as const;
const VALUED = [
  "--name",
  "--title",
  "--cwd",
  "--idle-timeout",
  "--lifetime",
  "--task",
  "--remote",
  "--on-event",
  ...LISTEN_VALUED,
];

export async function run(argv: readonly string[]): Promise<number> {
  if (isTeam(argv)) {
    const { runTeam } = await import("#cli/team/run-team.ts");
    return await runTeam(argv);
  }
  return await runCommand(argv);
}

/** Behind a team all words are ours; behind a command none is. */
export function findOwnWords(words: readonly string[]): readonly string[] {
  return isTeam(words) ? words : splitCommand(words, VALUED).ours;
}

function isTeam(argv: readonly string[]): boolean {
  return meansTeam(argv, { dataDir: findDataDir(), commandValued: VALUED });
}

async function runCommand(argv: readonly string[]): Promise<number> {
  const { ours, command } = splitCommand(argv, VALUED);
  const { values } = parseOptions(ours, options);
  const isTerminal = values.tty ?? (process.stdin.isTTY || command.length === 0);
  const isDetached = values.detach === true;
  const json = values.json === true;
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY && !json;
  const isAttached = isTerminal && !isDetached && hasTerminal;
  const forwardsInput = !isAttached && !isDetached && hasInput();
  const request = createRequest(values, { command, isTerminal, forwardsInput });
  const hooks = await readEventHooks(values["on-event"] ?? [], { isDetached });
  const { remote, task } = values;
  if (remote !== undefined) await checkRemote(values, request);
  using listener = await openListenerFor(values);
  markNesting(process.env, { isShown: !isDetached });
  await using client = await openClient({ remote, task, attaches: true });
  // With a key it is started once, also when the first answer is lost.
  const idempotency_key = `run_${randomUUID()}`;
  const session = await client.call("session.create", { ...request, idempotency_key });
  const { session_id } = session;
  await listener?.serve(session_id);
  if (isDetached) {
    process.stdout.write(`${json ? printableJson(session) : session_id}\n`);
    return 0;
  }
  await using _hooks = await openRunHooks(hooks, { session_id, remote, isNew: true });
  if (!isAttached) return await runPiped(client, session, { since: 0, json, forwardsInput });
  const attach = { role: "controller", takeover: false, since: 0, isNew: true } as const;
  return await attachTerminal(client, session, attach);
}

/** Most runs have none, and load nothing for it. */
async function openListenerFor(values: Values): Promise<PendingListener | undefined> {
  const flags = pickListenFlags(values);
  if (flags === undefined) return undefined;
  const { openListener } = await import("#cli/target/start-listener.ts");
  return await openListener(flags);
}

interface Plan {
  readonly command: readonly string[];
  readonly isTerminal: boolean;
  readonly forwardsInput: boolean;
}

type Values = ReturnType<typeof parseOptions<typeof options>>["values"];

function createRequest(values: Values, plan: Plan): OperationInput<"session.create"> {
  return {
    kind: plan.isTerminal ? "terminal" : "command",
    argv: plan.command.length === 0 ? undefined : [...plan.command],
    name: values.name,
    title: values.title,
    // Checked where it is looked for.
    task_id: values.task as TaskId | undefined,
    work_dir: locate(values),
    idle_timeout_ms: parseSeconds(values["idle-timeout"], "idle-timeout"),
    lifetime_ms: parseSeconds(values.lifetime, "lifetime"),
    ...(process.stdout.isTTY && plan.isTerminal ? currentSize() : {}),
    stdin: plan.forwardsInput,
  };
}

/** A path of the server is the server's to read. */
function locate({ cwd, remote }: Values): string | undefined {
  return cwd === undefined || remote !== undefined ? cwd : resolve(cwd);
}

/** Refused before anything is asked of the server. */
async function checkRemote(
  values: Values,
  request: OperationInput<"session.create">,
): Promise<void> {
  if (pickListenFlags(values) !== undefined)
    throw new Fault(
      "invalid_request",
      "--listen serves a run of this machine; one behind --remote has that address",
    );
  const { checkRemoteRun } = await import("#cli/target/server.ts");
  checkRemoteRun(values.remote ?? "", request);
}

/** Whether somebody may have something to say on our stdin: a pipe, a file or a socket, not /dev/null. */
function hasInput(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    // It is closed.
    return false;
  }
}
