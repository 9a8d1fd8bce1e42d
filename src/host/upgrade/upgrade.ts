import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errno.ts";
import type { Logger } from "#base/logger.ts";
import { Fault } from "#contract/fault.ts";
import {
  HAND_OVER_VERSION,
  type HandedServer,
  type HandedSession,
  type HandOver,
  removeHandOver,
  writeHandOver,
} from "#host/session/hand-over.ts";
import type { Sessions } from "#host/sessions/sessions.ts";
import type { HostServer } from "#host/socket/server.ts";
import { identify } from "#proc/identity.ts";
import type { OpenSpawner } from "#proc/spawner.ts";
import { checkProgram } from "./check-program.ts";

export interface UpgradeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: Sessions;
  readonly spawner: OpenSpawner;
  readonly server: () => HostServer;
  readonly dataPath: string;
  readonly version: string;
  /** How this very program was started. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How long a moment is waited for in which nothing starts, ends or is unanswered. */
const SETTLE_LIMIT_MS = 10_000;
/** Of that, for clients that do not read their answers. */
const UNSENT_LIMIT_MS = 1000;
const LOOK_MS = 5;

/**
 * Another program in the host's place, in the same process: the children stay its children.
 *
 *   check the program ──> wait for a settled moment ──> hand over and exec, in one go
 *
 * The last step never gives the event loop a turn, so nothing happens between what is written down and the exec, and
 * nothing is refused meanwhile: what children print and clients send waits in the kernel for the next program.
 */
export function createUpgrade(deps: UpgradeDeps): (command: readonly string[]) => Promise<never> {
  let isUnderWay = false;
  return async (command) => {
    if (isUnderWay) throw new Fault("busy", "this host is being upgraded already");
    isUnderWay = true;
    try {
      return await upgrade(command, deps);
    } finally {
      isUnderWay = false;
    }
  };
}

async function upgrade(command: readonly string[], deps: UpgradeDeps): Promise<never> {
  const { succession } = deps.spawner;
  if (succession === undefined)
    throw new Fault(
      "unsupported",
      "on this platform a host cannot be upgraded while it runs; stop it, and the next command starts the new one",
    );
  const { version, numbered } = await checkProgram(command, deps);
  await waitUntilSettled(deps, { numbered });
  const handOver = describeHandOver(deps);
  try {
    writeHandOver(deps.dataPath, handOver);
    deps.log.info("host hands over", { from: deps.version, to: version, command });
    return succession.replace({
      argv: [...command, "host", "--data-dir", deps.dataPath],
      env: deps.env,
      keep: handOver.descriptors,
    });
  } catch (error) {
    removeHandOver(deps.dataPath);
    throw new Fault(
      "spawn_failed",
      `${command[0]} could not take over, so this host goes on as it is: ${messageOf(error)}`,
      { details: { command }, cause: error },
    );
  }
}

async function waitUntilSettled(
  { clock, server, sessions }: UpgradeDeps,
  { numbered }: { readonly numbered: boolean },
): Promise<void> {
  const since = clock.monotonic();
  for (;;) {
    const waited = clock.monotonic() - since;
    // One request is the upgrade itself.
    const isQuiet = server().inFlight <= 1 && sessions.settle();
    const isCut = !numbered && server().cutNumbered();
    if (isQuiet && !isCut && !server().hasUnsent) return;
    // They are gone, with what they held, at the next look.
    if (isQuiet && waited >= UNSENT_LIMIT_MS) server().cutUnsent();
    if (waited >= SETTLE_LIMIT_MS)
      throw new Fault(
        "busy",
        "sessions are starting or ending, or the disk is full, so this host cannot be upgraded now; try again",
      );
    const { promise, resolve } = Promise.withResolvers<void>();
    using _look = clock.timer(LOOK_MS, resolve);
    await promise;
  }
}

function describeHandOver(deps: UpgradeDeps): HandOver {
  const sessions = deps.sessions.handOver();
  const server = deps.server().handOver();
  return {
    version: HAND_OVER_VERSION,
    process: identify(process.pid),
    descriptors: listDescriptors(sessions, server),
    back: [...deps.command],
    is_returned: false,
    from_version: deps.version,
    at_ns: String(process.hrtime.bigint()),
    sessions,
    server,
  };
}

function listDescriptors(sessions: readonly HandedSession[], server: HandedServer): number[] {
  const ofSessions = sessions.flatMap(({ life }) => {
    const wiring = life.child?.wiring;
    if (wiring === undefined || wiring === null) return [];
    return [...wiring.outputs.map(({ fd }) => fd), wiring.slave, wiring.stdin];
  });
  const ofClients = server.connections.map(({ fd }) => fd);
  return [...ofSessions, server.listener, ...ofClients].filter((fd) => fd !== null);
}
