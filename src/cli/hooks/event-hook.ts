import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { findDataDir } from "#cli/program/context.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** A command that is told what happens in a run. */
export interface EventHook {
  /** Of the events; `*` is every one. */
  readonly type: string;
  readonly command: string;
}

const FALLBACK_SHELL = "/bin/sh";

/**
 * Those of the flags, then those of the config file. What is wrong is found before anything is started. Somebody has to
 * stay to tell them, so a run that is left at once has none.
 */
export async function readEventHooks(
  words: readonly string[],
  { isDetached }: { readonly isDetached: boolean },
): Promise<readonly EventHook[]> {
  if (isDetached && words.length > 0)
    throw new Fault(
      "invalid_request",
      "--on-event needs this process to stay: leave --detach away",
    );
  if (isDetached) return [];
  const flags = words.map((word) => parseEventHook(word));
  if (flags.length > 0) await checkTypes(flags);
  const hooks = [...flags, ...(await readConfigHooks())];
  if (hooks.length <= limits.event_hooks) return hooks;
  throw new Fault(
    "invalid_request",
    `--on-event: a run has at most ${limits.event_hooks} hooks, those of config.yaml among them`,
  );
}

/** `TYPE=CMD`, split at the first `=`: a command may have more of them. */
export function parseEventHook(word: string): EventHook {
  const at = word.indexOf("=");
  const type = word.slice(0, Math.max(at, 0)).trim();
  const command = word.slice(at + 1);
  if (at >= 0 && type !== "" && command.trim() !== "") return { type, command };
  throw new Fault(
    "invalid_request",
    `--on-event: ${JSON.stringify(word)} does not look like TYPE=COMMAND, as turn.ended=./notify.sh or *=cat`,
  );
}

/** Loaded only where there are flags; those of the config file are checked where it is read. */
async function checkTypes(hooks: readonly EventHook[]): Promise<void> {
  const { findWrongType } = await import("#app/event-types.ts");
  for (const { type } of hooks) {
    const wrong = findWrongType(type);
    if (wrong !== undefined) throw new Fault("invalid_request", `--on-event: ${wrong}`);
  }
}

/** Most have none, and then nothing is loaded for it. */
async function readConfigHooks(): Promise<readonly EventHook[]> {
  const path = join(findDataDir(), "config.yaml");
  if (!mentionsHooks(path)) return [];
  const { readConfig } = await import("#daemon/config.ts");
  return readConfig(path).on_event ?? [];
}

function mentionsHooks(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes("on_event");
  } catch {
    // There is none. One that cannot be read is told by whoever needs more of it.
    return false;
  }
}

/** The user's own shell, if it is one that can be run whatever the path is. */
export function chooseShell({
  SHELL: shell,
}: Readonly<Record<string, string | undefined>>): string {
  return shell !== undefined && isAbsolute(shell) && isProgram(shell) ? shell : FALLBACK_SHELL;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // It is not there, or not ours to run.
    return false;
  }
}
