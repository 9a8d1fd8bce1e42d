import koffi, { type LibraryHandle } from "koffi";

/**
 * The few calls of libc that Node does not offer, each with its exact C signature. A wrong signature crashes the
 * process, so they are all here, and `selfTest` in ./self-test.ts tries them before the first session.
 * Constants are those of Linux on x64 and arm64.
 */
export const O_RDWR = 0o2;
export const O_RDONLY = 0o0;
export const O_NOCTTY = 0o400;
export const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;

const F_SETFD = 2;
const F_SETFL = 4;
const F_DUPFD_CLOEXEC = 1030;
const F_GETPIPE_SZ = 1032;
const TIOCSWINSZ = 0x5414;
const PR_GET_DUMPABLE = 3;
const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const FD_CLOEXEC = 1;
const RLIMIT_NOFILE = 7;
const RLIMIT_MSGQUEUE = 12;
const IUTF8 = 0o40000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const UCRED_BYTES = 12;
const TERMIOS_BYTES = 64;
const NAME_BYTES = 128;

type IntCall = (...args: readonly unknown[]) => number;

interface WaitResult {
  readonly pid: number;
  readonly status: number;
}

export type Libc = ReturnType<typeof openLibc>;

export function openLibc() {
  const lib = koffi.load(null);
  const raw = defineCalls(lib);
  return {
    koffi,
    lib,
    openPtyMaster: () =>
      check(raw.posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), "posix_openpt"),
    unlockPty(master: number): string {
      check(raw.grantpt(master), "grantpt");
      check(raw.unlockpt(master), "unlockpt");
      const name = Buffer.alloc(NAME_BYTES);
      const problem = raw.ptsname_r(master, name, NAME_BYTES);
      if (problem !== 0) throw errnoError(problem, "ptsname_r");
      return name.toString("latin1", 0, name.indexOf(0));
    },
    openPipe(): readonly [read: number, write: number] {
      const fds: number[] = [0, 0];
      check(raw.pipe2(fds, O_CLOEXEC), "pipe2");
      const [read = -1, write = -1] = fds;
      return [read, write];
    },
    setNonBlocking: (fd: number) => check(raw.fcntl(fd, F_SETFL, O_NONBLOCK), "fcntl"),
    duplicate: (fd: number) => check(raw.fcntl(fd, F_DUPFD_CLOEXEC, 3), "fcntl"),
    /** Whether the next program in this process finds it open. */
    setKept: (fd: number, isKept: boolean) =>
      check(raw.fcntl(fd, F_SETFD, isKept ? 0 : FD_CLOEXEC), "fcntl"),
    /** How much a pipe can hold. */
    pipeBytes: (fd: number) => raw.fcntl(fd, F_GETPIPE_SZ, 0),
    setSize(fd: number, cols: number, rows: number): void {
      const winsize = Buffer.alloc(8);
      winsize.writeUInt16LE(rows, 0);
      winsize.writeUInt16LE(cols, 2);
      check(raw.ioctl(fd, TIOCSWINSZ, winsize), "ioctl");
    },
    /** So that erasing a character in a cooked line erases all of its bytes. */
    setUtf8(slave: number): void {
      const termios = Buffer.alloc(TERMIOS_BYTES);
      check(raw.tcgetattr(slave, termios), "tcgetattr");
      termios.writeUInt32LE((termios.readUInt32LE(0) | IUTF8) >>> 0, 0);
      check(raw.tcsetattr(slave, 0, termios), "tcsetattr");
    },
    foregroundGroup: (fd: number) => raw.tcgetpgrp(fd),
    /** Undefined when there is nothing to reap. */
    reap(pid: number): WaitResult | undefined {
      const status = [0];
      const reaped = raw.waitpid(pid, status, WNOHANG);
      return reaped > 0 ? { pid: reaped, status: status[0] ?? 0 } : undefined;
    },
    /** Bytes written, or the negative errno. */
    write(fd: number, bytes: Uint8Array): number {
      const written = raw.write(fd, bytes, bytes.length);
      return written >= 0 ? written : -koffi.errno();
    },
    /** Bytes read, or the negative errno; 0 at the end. */
    read(fd: number, into: Uint8Array): number {
      const count = raw.read(fd, into, into.length);
      return count >= 0 ? count : -koffi.errno();
    },
    ...describeMemory(raw),
    ...describeSockets(raw),
    becomeSubreaper: () => check(raw.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl"),
    /** Another program in this process. Returns only when that failed, with the errno. Unlike Node's, which aborts then. */
    execute(path: string, argv: readonly string[], env: readonly string[]): number {
      raw.execve(path, [...argv, null], [...env, null]);
      return koffi.errno();
    },
    limitMark: describeLimit(raw, RLIMIT_MSGQUEUE),
    openFiles: describeLimit(raw, RLIMIT_NOFILE),
  };
}

function describeSockets(raw: ReturnType<typeof defineCalls>) {
  return {
    /** The process at the other end of a unix socket. */
    findPeer(fd: number): number | undefined {
      const credentials = Buffer.alloc(UCRED_BYTES);
      const length = [UCRED_BYTES];
      const failed = raw.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, length) < 0;
      return failed ? undefined : credentials.readInt32LE(0);
    },
  };
}

/** Access of other processes to this one's memory and environment. */
function describeMemory(raw: ReturnType<typeof defineCalls>) {
  return {
    /** Only root may trace us or read our memory and environment. */
    forbidDump: () => check(raw.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl"),
    isDumpable: () => raw.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) !== 0,
    /** Overwrites a variable's value where it is, before it is removed: /proc/PID/environ shows that place. */
    wipeVariable(name: string): void {
      const value = raw.getenv(name);
      if (value !== null) raw.memset(value, 0, raw.strlen(value));
    },
  };
}

/** A resource limit of this process, which children inherit. 2^64 - 1 means none, so they are no numbers. */
function describeLimit(raw: ReturnType<typeof defineCalls>, resource: number) {
  return {
    read(): { soft: bigint; hard: bigint } {
      const pair: (number | bigint)[] = [0, 0];
      check(raw.getrlimit(resource, pair), "getrlimit");
      return { soft: BigInt(pair[0] ?? 0), hard: BigInt(pair[1] ?? 0) };
    },
    write: (soft: bigint, hard: bigint) =>
      check(raw.setrlimit(resource, [soft, hard]), "setrlimit"),
  };
}

function check(result: number, call: string): number {
  if (result >= 0) return result;
  throw errnoError(koffi.errno(), call);
}

/** koffi's calls are untyped; each gets its shape here, once, beside its C signature. */
function defineCalls(lib: LibraryHandle) {
  const define = (signature: string) => lib.func(signature) as unknown as IntCall;
  return {
    posix_openpt: define("int posix_openpt(int flags)"),
    grantpt: define("int grantpt(int fd)"),
    unlockpt: define("int unlockpt(int fd)"),
    ptsname_r: define("int ptsname_r(int fd, _Out_ uint8_t *name, size_t length)"),
    pipe2: define("int pipe2(_Out_ int *fds, int flags)"),
    fcntl: define("int fcntl(int fd, int command, long argument)"),
    ioctl: define("int ioctl(int fd, unsigned long request, _Inout_ uint8_t *argument)"),
    getsockopt: define(
      "int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *length)",
    ),
    tcgetpgrp: define("int tcgetpgrp(int fd)"),
    tcgetattr: define("int tcgetattr(int fd, _Out_ uint8_t *termios)"),
    tcsetattr: define("int tcsetattr(int fd, int when, const uint8_t *termios)"),
    waitpid: define("int waitpid(int pid, _Out_ int *status, int options)"),
    read: define("long read(int fd, _Out_ uint8_t *bytes, size_t count)"),
    write: define("long write(int fd, const uint8_t *bytes, size_t count)"),
    execve: define("int execve(const char *path, const char **argv, const char **envp)"),
    prctl: define(
      "int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)",
    ),
    getenv: lib.func("void *getenv(const char *name)") as unknown as (name: string) => unknown,
    strlen: define("size_t strlen(void *text)"),
    memset: define("void *memset(void *bytes, int value, size_t count)"),
    getrlimit: define("int getrlimit(int resource, _Out_ uint64_t *limit)"),
    setrlimit: define("int setrlimit(int resource, const uint64_t *limit)"),
  };
}

/** An error as Node makes them, with the errno's name in `code`. */
export function errnoError(errno: number, call: string): NodeJS.ErrnoException {
  const code = errnoName(errno);
  const error: NodeJS.ErrnoException = new Error(`${code}: ${call} failed`);
  error.code = code;
  error.errno = errno;
  error.syscall = call;
  return error;
}

export function errnoName(errno: number): string {
  const found = Object.entries(koffi.os.errno).find(([, value]) => value === errno);
  return found?.[0] ?? `E${errno}`;
}
