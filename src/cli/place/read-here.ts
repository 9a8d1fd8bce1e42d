import { type Local, openLocal } from "#cli/context.ts";
import { notice } from "#cli/exit.ts";
import { Fault } from "#contract/fault.ts";
import type { OperationInput, OperationOutput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { locateDataDir } from "#host/data-dir.ts";
import type { SessionHandle } from "#session/session-host.ts";
import { createTargetPlace, type TargetPlace } from "./target.ts";

/** As much of this machine as is needed to list sessions and to read their logs. */
export interface ReadingPlace extends Disposable {
  readonly place: TargetPlace;
  open(sessionId: string): Promise<SessionHandle>;
}

/** Through the host, or by the files alone where none can run because the data directory cannot be written to. */
export async function openReading(
  dataDir: string,
  openHere: () => Promise<Local> = openLocal,
): Promise<ReadingPlace> {
  try {
    const local = await openHere();
    return {
      place: createTargetPlace(local.operations),
      open: (sessionId) => local.hosts.of(sessionId).open(sessionId),
      [Symbol.dispose]: () => local[Symbol.dispose](),
    };
  } catch (error) {
    if (!(error instanceof Fault) || !isUnwritable(error)) throw error;
    notice(`${error.message}. Showing what its files hold.`);
    return await openFiles(dataDir);
  }
}

function isUnwritable({ code, details }: Fault): boolean {
  return (
    code === "host_unavailable" && ["EROFS", "EACCES", "EPERM"].includes(String(details.errno))
  );
}

async function openFiles(dataDir: string): Promise<ReadingPlace> {
  const { readSessions } = await import("#host/sessions/read-sessions.ts");
  const { openStoppedSession } = await import("#session/shared-sessions.ts");
  const { sessions } = locateDataDir(dataDir);
  const all = readSessions(sessions);
  return {
    place: createFilesPlace(all),
    open: async (sessionId) => openStoppedSession(getSession(all, sessionId), sessions),
    [Symbol.dispose]: () => undefined,
  };
}

/** Nothing lives without a host. */
function createFilesPlace(all: readonly Session[]): TargetPlace {
  const answers = {
    "session.get": ({ session_id }: OperationInput<"session.get">) => getSession(all, session_id),
    "session.list": ({ state, kind, q = "" }: OperationInput<"session.list">) => ({
      sessions: all.filter(
        (session) =>
          (state === undefined || session.state.kind === state) &&
          (kind === undefined || session.kind === kind) &&
          session.session_id.includes(q),
      ),
      cursor: null,
    }),
  };
  return {
    call: async (name, input) =>
      // The name says which input it is, and which answer.
      (answers[name] as (of: unknown) => unknown)(input) as OperationOutput<typeof name>,
  };
}

function getSession(all: readonly Session[], sessionId: string): Session {
  const found = all.find(({ session_id }) => session_id === sessionId);
  if (found !== undefined) return found;
  throw new Fault("session_not_found", `there is no session ${sessionId}`);
}
