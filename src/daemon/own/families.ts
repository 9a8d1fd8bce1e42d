import type { Team } from "#agent/team/team.ts";
import { createSessionOperations, localPlaces } from "#app/session.ts";
import { systemClock } from "#base/clock.ts";
import { openOnce } from "#base/once.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import type { Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHosts } from "#session/session-host.ts";
import type { ProcessTools } from "#tools/process/process.ts";
import type { OwnClientOptions } from "./own-client.ts";

export type FamilyName =
  | "sessions"
  | "output"
  | "events"
  | "screens"
  | "waits"
  | "exports"
  | "agents"
  | "processes";

/** Operations that need the same parts. The code of a family is loaded by the first call of one of its operations. */
export interface Families {
  readonly handlers: Readonly<Record<FamilyName, () => Promise<Partial<Operations>>>>;
  openScreens(): Promise<Screens>;
  /** With stdout and stderr apart. */
  processTools(): Promise<ProcessTools>;
  readTeam(source: TeamSource): Promise<Team>;
  /** Restarts an agent that has crashed. Never rejects. */
  tendAgent(session: Session): Promise<void>;
}

const clock = systemClock;

export function createFamilies(
  options: OwnClientOptions,
  hosts: SessionHosts,
  stack: AsyncDisposableStack,
): Families {
  const { caller, places = localPlaces } = options;
  const agents = openOnce(async () => {
    const { openOwnAgents } = await import("./own-agents.ts");
    return await openOwnAgents({ ...options, places }, hosts, stack);
  });
  const patterns = openOnce(async () => {
    const { openPatterns } = await import("#app/read/patterns.ts");
    return stack.use(openPatterns());
  });
  const openScreens = openOnce(async () => {
    const screens = await import("#screen/screens.ts");
    return stack.use(screens.openScreens({ hosts, clock }));
  });
  const processTools = openOnce(async () => {
    const { createProcessTools } = await import("#tools/process/process.ts");
    const apart = { requireWorkdir: false, keepsApart: true };
    const deps = { hosts, patterns: await patterns(), clock, places, ...apart };
    return createProcessTools(deps, caller);
  });
  const interruptAgent = async (session: Session) => (await agents()).interrupt(session);
  const sessions = createSessionOperations({ hosts, places, interruptAgent }, caller);
  const handlers: Families["handlers"] = {
    sessions: async () => sessions,
    output: openOnce(async () => {
      const { createOutputOperations } = await import("#app/read/output.ts");
      return createOutputOperations({ hosts, clock }, caller);
    }),
    events: openOnce(async () => {
      const { createEventOperations } = await import("#app/read/events.ts");
      return createEventOperations({ hosts }, caller);
    }),
    screens: openOnce(async () => {
      const { createScreenOperations } = await import("#app/read/screen.ts");
      return createScreenOperations({ hosts, screens: await openScreens() }, caller);
    }),
    waits: openOnce(async () => {
      const { createWaitOperations } = await import("#app/read/wait.ts");
      return createWaitOperations({ hosts, patterns: await patterns(), clock }, caller);
    }),
    exports: openOnce(async () => {
      const { createExportOperations } = await import("#app/export/export.ts");
      return createExportOperations({ hosts }, caller);
    }),
    agents: async () => (await agents()).operations,
    processes: openOnce(async () => {
      const { toOperations } = await import("#tools/process/process.ts");
      return toOperations(await processTools());
    }),
  };
  return {
    handlers,
    openScreens,
    processTools,
    readTeam: async (source) => (await agents()).readTeam(source),
    tendAgent: async (session) => {
      // A team or a configuration that cannot be read is reported by the call that needs it.
      const loaded = await agents().catch(() => undefined);
      loaded?.tend(session);
    },
  };
}
