import { fstatSync } from "node:fs";
import { resolve } from "node:path";
import type { OperationInput } from "#contract/operations.ts";
import { openLocal } from "./context.ts";
import { parseOptions, parseSeconds, splitCommand } from "./options.ts";
import { runPiped } from "./piped.ts";
import { attachTerminal } from "./terminal/attached.ts";
import { currentSize } from "./terminal/raw-mode.ts";

const options = {
  detach: { type: "boolean", short: "d" },
  json: { type: "boolean" },
  tty: { type: "boolean" },
  title: { type: "string" },
  cwd: { type: "string" },
  "idle-timeout": { type: "string" },
  lifetime: { type: "string" },
} as const;
const VALUED = ["--title", "--cwd", "--idle-timeout", "--lifetime"];

export async function run(argv: readonly string[]): Promise<number> {
  const { ours, command } = splitCommand(argv, VALUED);
  const { values } = parseOptions(ours, options);
  const isTerminal = values.tty ?? (process.stdin.isTTY || command.length === 0);
  const isDetached = values.detach === true;
  const json = values.json === true;
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY && !json;
  const isAttached = isTerminal && !isDetached && hasTerminal;
  const forwardsInput = !isAttached && !isDetached && hasInput();
  const request = createRequest(values, { command, isTerminal, forwardsInput });
  using local = await openLocal();
  const session = await local.operations["session.create"](request);
  if (isDetached) {
    process.stdout.write(`${json ? JSON.stringify(session) : session.session_id}\n`);
    return 0;
  }
  if (isAttached) {
    return await attachTerminal(local, session, {
      role: "controller",
      takeover: false,
      since: 0,
      isNew: true,
    });
  }
  return await runPiped(local, session, { since: 0, json, forwardsInput });
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
    title: values.title,
    work_dir: values.cwd === undefined ? undefined : resolve(values.cwd),
    idle_timeout_ms: parseSeconds(values["idle-timeout"], "idle-timeout"),
    lifetime_ms: parseSeconds(values.lifetime, "lifetime"),
    ...(process.stdout.isTTY && plan.isTerminal ? currentSize() : {}),
    stdin: plan.forwardsInput,
  };
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
