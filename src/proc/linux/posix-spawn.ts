import { errnoError, errnoName, type Libc } from "./libc.ts";

/** What the child's descriptor becomes, before exec. */
export type FileAction =
  | { readonly kind: "open"; readonly fd: number; readonly path: string; readonly flags: number }
  | { readonly kind: "dup"; readonly from: number; readonly to: number };

export interface SpawnRequest {
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly work_dir: string;
  readonly actions: readonly FileAction[];
  /**
   * Runs around the system call alone, with what the child inherits from us at that moment. Not around the rest:
   * libc refuses actions on descriptors above the limit that only the child is to have.
   */
  readonly during: <T>(run: () => T) => T;
}

/** The pid, or the errno's name. */
type SpawnResult =
  | { readonly ok: true; readonly pid: number }
  | { readonly ok: false; readonly errno: string };
export type PosixSpawn = (request: SpawnRequest) => SpawnResult;

const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
const SIGKILL = 9;
const SIGSTOP = 19;
/** glibc's are 336, 80 and 128 bytes, musl's no larger. */
const OPAQUE_BYTES = 1024;
const FIRST_OTHER_FD = 3;

type IntCall = (...args: readonly unknown[]) => number;

/**
 * `posix_spawn`: the child is the leader of a session of its own, with default signals, an empty mask and no
 * descriptor but those of the actions. It uses vfork, so it costs the same however large the host is.
 */
export function createPosixSpawn(libc: Libc): PosixSpawn {
  const define = (signature: string) => libc.lib.func(signature) as unknown as IntCall;
  const call = {
    spawn: define(
      "int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **envp)",
    ),
    attributes: define("int posix_spawnattr_init(void *attributes)"),
    flags: define("int posix_spawnattr_setflags(void *attributes, short flags)"),
    defaults: define("int posix_spawnattr_setsigdefault(void *attributes, void *set)"),
    mask: define("int posix_spawnattr_setsigmask(void *attributes, void *set)"),
    remove: define("int sigdelset(void *set, int signal)"),
    actions: define("int posix_spawn_file_actions_init(void *actions)"),
    destroy: define("int posix_spawn_file_actions_destroy(void *actions)"),
    open: define(
      "int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, unsigned int mode)",
    ),
    dup: define("int posix_spawn_file_actions_adddup2(void *actions, int from, int to)"),
    chdir: define("int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)"),
    closeFrom: findCloseFrom(libc),
  };
  const attributes = Buffer.alloc(OPAQUE_BYTES);
  // Not by sigfillset: it leaves out the two that libc keeps for itself, and those would be ignored in the child.
  const signals = Buffer.alloc(OPAQUE_BYTES, 0xff);
  must(call.attributes(attributes), "posix_spawnattr_init");
  call.remove(signals, SIGKILL);
  call.remove(signals, SIGSTOP);
  must(call.defaults(attributes, signals), "posix_spawnattr_setsigdefault");
  must(call.mask(attributes, Buffer.alloc(OPAQUE_BYTES)), "posix_spawnattr_setsigmask");
  must(call.flags(attributes, SETSID | SETSIGDEF | SETSIGMASK), "posix_spawnattr_setflags");

  return (request) => {
    const actions = Buffer.alloc(OPAQUE_BYTES);
    must(call.actions(actions), "posix_spawn_file_actions_init");
    try {
      must(call.chdir(actions, request.work_dir), "addchdir");
      for (const action of request.actions) {
        if (action.kind === "open")
          must(call.open(actions, action.fd, action.path, action.flags, 0), "addopen");
        else must(call.dup(actions, action.from, action.to), "adddup2");
      }
      // Everything of ours is close-on-exec anyway; this also covers what a library might open.
      if (call.closeFrom !== undefined)
        must(call.closeFrom(actions, FIRST_OTHER_FD), "addclosefrom");
      const pid = [0];
      const env = Object.entries(request.env).map(([name, value]) => `${name}=${value}`);
      const lists = [
        [...request.argv, null],
        [...env, null],
      ];
      const problem = request.during(() =>
        call.spawn(pid, request.path, actions, attributes, ...lists),
      );
      return problem === 0
        ? { ok: true, pid: pid[0] ?? 0 }
        : { ok: false, errno: errnoName(problem) };
    } finally {
      call.destroy(actions);
    }
  };
}

/** Not in every libc. */
function findCloseFrom(libc: Libc): IntCall | undefined {
  try {
    return libc.lib.func(
      "int posix_spawn_file_actions_addclosefrom_np(void *actions, int from)",
    ) as unknown as IntCall;
  } catch {
    return undefined;
  }
}

function must(problem: number, call: string): void {
  if (problem !== 0) throw errnoError(problem, call);
}
