import type { Clock } from "#base/clock.ts";

type Variables = Record<string, string | undefined>;

/** Lets debuggers and profilers of the same user attach; what they can read, every program of that user can. */
const DUMPABLE = "REINS_DUMPABLE";

/** Names of variables that hold a secret, such as ANTHROPIC_API_KEY or GITHUB_TOKEN. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)S?$/i;

/** Keeps other programs of the same user from reading our memory and environment, where keys may be. Ends with exec. */
export async function guardMemory(env: Variables): Promise<void> {
  // Elsewhere the system does not let one ask for it.
  if (process.platform !== "linux" || env[DUMPABLE] === "1") return;
  const { openLibc } = await import("#proc/linux/libc.ts");
  openLibc().forbidDump();
}

/** Long enough that a short command has ended: to load what guards the memory would cost it a tenth of its time. */
export const GUARD_AFTER_MS = 200;

/** For a command that may stay for hours, with the user's environment and the keys that are in it. */
export function guardLater(clock: Clock, env: Variables, guard = guardMemory): Disposable {
  return clock.timer(GUARD_AFTER_MS, () => {
    // A kernel that refuses it leaves the command as readable as the shell that started it.
    guard(env).catch(() => undefined);
  });
}

/** Whether only root can read our memory and environment; false where the system cannot say. */
export async function isMemoryGuarded(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const { openLibc } = await import("#proc/linux/libc.ts");
  return !openLibc().isDumpable();
}

/**
 * Guards the memory, takes the secrets out of `own`, which is `process.env`, and answers the environment as it was. On Linux
 * their bytes are overwritten too, because the kernel shows the first environment of a process for as long as it lives.
 */
export async function takeEnvironment(own: Variables): Promise<Variables> {
  await guardMemory(own);
  const all: Variables = { ...own };
  const names = findSecrets(all);
  if (process.platform === "linux" && names.length > 0) {
    const { openLibc } = await import("#proc/linux/libc.ts");
    const libc = openLibc();
    for (const name of names) libc.wipeVariable(name);
  }
  for (const name of names) delete own[name];
  return all;
}

/** A short value is found in texts that have nothing to do with it. */
const TELLING_CHARS = 8;

/** By their names, and all that hold the value of one of these. */
function findSecrets(all: Variables): readonly string[] {
  const entries = Object.entries(all);
  const secrets = entries.flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value !== undefined && value.length >= TELLING_CHARS ? [value] : [],
  );
  return entries
    .filter(
      ([name, value]) =>
        SECRET_NAME.test(name) || secrets.some((secret) => value?.includes(secret) === true),
    )
    .map(([name]) => name);
}
