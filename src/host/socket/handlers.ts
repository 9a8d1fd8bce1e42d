import { Fault } from "#contract/fault.ts";
import { findSignal, signalNames } from "#contract/signals.ts";
import type { Role } from "#host/session/audience.ts";
import { createBlobFiles } from "#host/session/blob-files.ts";
import type { HostSession } from "#host/session/host-session.ts";
import { readLog } from "#host/session/read-log.ts";
import { asDiskFault } from "#host/sessions/prepare-session.ts";
import type { HostAccess } from "./bound-access.ts";
import { listSessions } from "./list-sessions.ts";
import type { HostMethod, HostMethods } from "./methods.ts";
import type { Notifier } from "./notifier.ts";
import type { RequestOf } from "./requests.ts";

/** What one connection may hold: it is let go when the connection ends. */
export interface Attachment {
  readonly session: HostSession;
  readonly viewer: string;
  readonly role: Role;
  /** Its inputs are numbered. */
  readonly name: string | undefined;
  generation: number | undefined;
}

export interface HandlerContext extends HostAccess {
  readonly bind: (request: RequestOf<"connection.bind">) => void;
  readonly notifier: Notifier;
  readonly attachments: Map<number, Attachment>;
  readonly nextNumber: () => number;
}

export type Handlers = {
  readonly [M in HostMethod]: (
    params: RequestOf<M>,
  ) => HostMethods[M]["result"] | Promise<HostMethods[M]["result"]>;
};

export function createHandlers(context: HandlerContext): Handlers {
  return {
    ...hostHandlers(context),
    ...sessionHandlers(context),
    ...attachHandlers(context),
    ...watchHandlers(context),
    ...readHandlers(context),
  };
}

function hostHandlers({ sessions, health, shutdown, upgrade, bind }: HandlerContext) {
  return {
    "connection.bind": (params) => {
      bind(params);
      return {};
    },
    "host.health": () => health(),
    "host.shutdown": async () => {
      await sessions.shutdown();
      shutdown();
      return {};
    },
    "host.upgrade": (params) => upgrade(params.command),
  } satisfies Partial<Handlers>;
}

function sessionHandlers({ sessions }: HandlerContext) {
  return {
    "session.create": async (params) => (await sessions.create(params)).view(),
    "session.revive": async (params) => (await sessions.revive(params)).view(),
    "session.list": (params) => listSessions(sessions.all(), params),
    "session.get": (params) => sessions.get(params.session_id).view(),
    "session.labels": (params) => ({ labels: sessions.get(params.session_id).record.labels }),
    "session.rename": (params) => {
      return sessions.rename(params).view();
    },
    "session.close": async (params) => {
      const session = await sessions.close(params.session_id, "user_requested", params.detail);
      if (params.purge === true) await sessions.purge(params.session_id);
      return session.view();
    },
    "session.input": (params) => {
      const bytes = Buffer.from(params.data_b64 ?? "", "base64");
      const { input_id, generation, eof } = params;
      sessions.get(params.session_id).input({ bytes, input_id, generation, eof });
      return {};
    },
    "session.resize": (params) => {
      sessions
        .get(params.session_id)
        .resize({ cols: params.cols, rows: params.rows }, params.generation);
      return {};
    },
    "session.signal": (params) => {
      const session = sessions.get(params.session_id);
      const signal = findSignal(params.signal);
      if (signal === undefined) {
        throw new Fault(
          "invalid_request",
          `signal: there is no signal ${JSON.stringify(params.signal)}`,
          {
            details: { known: signalNames },
          },
        );
      }
      // Only a terminal has a foreground.
      const scope = params.scope ?? (session.record.mode === "pty" ? "foreground" : "tree");
      return { signalled: session.signal(signal, scope) };
    },
    "session.tree": (params) => ({ processes: sessions.get(params.session_id).countTree() }),
  } satisfies Partial<Handlers>;
}

function attachHandlers(context: HandlerContext) {
  const find = (number: number) => {
    const attachment = context.attachments.get(number);
    if (attachment !== undefined) return attachment;
    throw new Fault("invalid_request", `attachment: this connection has no attachment ${number}`);
  };
  return {
    "session.attach": (params) => {
      const session = context.sessions.get(params.session_id);
      const attachment = context.nextNumber();
      const viewer = `${params.viewer}#${attachment}`;
      const { role, takeover = false, name } = params;
      if (role === "controller" && !session.isLive) throw ended(session);
      const generation = session.audience.attach(viewer, role, { takeover, name });
      context.attachments.set(attachment, { session, viewer, role, name, generation });
      const applied = name === undefined ? undefined : session.audience.inputs.enter(name);
      return { attachment, generation: generation ?? null, applied, session: session.view() };
    },
    "session.detach": (params) => {
      const { session, viewer } = find(params.attachment);
      context.attachments.delete(params.attachment);
      session.audience.detach(viewer);
      return {};
    },
    "session.take": (params) => {
      const attachment = find(params.attachment);
      const { session, viewer } = attachment;
      if (!session.isLive) throw ended(session);
      attachment.generation = session.audience.take(viewer, { takeover: params.takeover ?? false });
      return { generation: attachment.generation };
    },
    "session.release": (params) => {
      const { session, generation } = find(params.attachment);
      if (generation !== undefined) session.audience.release(generation);
      return {};
    },
    "session.renew": (params) => {
      const { session, generation } = find(params.attachment);
      return { held: generation !== undefined && session.audience.renew(generation) };
    },
  } satisfies Partial<Handlers>;
}

function readHandlers({ sessions }: HandlerContext) {
  return {
    "session.read": (params) =>
      readLog(sessions.get(params.session_id), params) ?? { kind: "end" as const },
    "session.blob": (params) => ({
      bytes: createBlobFiles(sessions.get(params.session_id).dir).find(params.name),
    }),
    "session.keep_blob": (params) => {
      const { dir } = sessions.get(params.session_id);
      try {
        return { name: createBlobFiles(dir).keep(Buffer.from(params.data_b64, "base64")) };
      } catch (error) {
        throw asDiskFault(error);
      }
    },
  } satisfies Partial<Handlers>;
}

function watchHandlers({ sessions, notifier }: HandlerContext) {
  return {
    "session.watch": (params) => {
      const session = sessions.get(params.session_id);
      return { watch: notifier.watch(session, params.inline ?? false), session: session.view() };
    },
    "session.unwatch": (params) => {
      notifier.unwatch(params.watch);
      return {};
    },
    "sessions.watch": () => {
      notifier.watchAll();
      return {};
    },
  } satisfies Partial<Handlers>;
}

function ended(session: HostSession): Fault {
  return new Fault("already_exited", "this session has ended, so there is nothing to control", {
    details: { session_id: session.id, state: session.record.state },
  });
}
