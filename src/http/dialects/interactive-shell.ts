import type { Who } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import { INTERACTIVE_LABEL } from "#app/shell/claim.ts";
import { isLive } from "#contract/ended.ts";
import { asFault } from "#contract/fault.ts";
import type { Session } from "#contract/session.ts";
import type { Shell } from "#contract/shell.ts";
import { defined } from "#contract/values/defined.ts";

/**
 * The interactive shell of an execd session: a session of ours, found by a label that names the shell it belongs to.
 *
 *   none      nobody has attached yet
 *   running   made by the first who attached, in the mode that he asked for
 *   ended     final; whoever attaches reads what it printed and how it ended
 *
 * The label is the host's to keep, so a gateway that was started anew finds it too.
 */
type InteractiveDeps = Pick<Gateway, "hosts" | "audit" | "where">;

const BASH = ["bash", "--norc", "--noprofile"];

export async function findInteractive(
  { hosts }: Pick<InteractiveDeps, "hosts">,
  { shell_id }: Pick<Shell, "shell_id">,
): Promise<Session | undefined> {
  const [host] = hosts.all();
  const { sessions } = await host.call("session.list", {
    labels: { [INTERACTIVE_LABEL]: shell_id },
    limit: 1,
  });
  return sessions[0];
}

interface StartInteractive {
  readonly shell: Shell;
  readonly pty: boolean;
}

/** However many ask at once get the same one. Where there is no PTY it has pipes, and its mode says so. */
export async function startInteractive(
  deps: InteractiveDeps,
  caller: Who,
  { shell, pty }: StartInteractive,
): Promise<Session> {
  const create = (mode: Session["mode"]) => createInteractive(deps, caller, { shell, mode });
  const session = pty
    ? await create("pty").catch((error: unknown) => {
        if (asFault(error).code !== "unsupported_os") throw error;
        return create("pipe");
      })
    : await create("pipe");
  const { workspace_id, session_id, kind, work_dir } = session;
  deps.audit.record({
    action: "session.opened",
    caller,
    workspace_id,
    target_id: session_id,
    details: { kind, work_dir, shell_id: shell.shell_id },
  });
  return session;
}

export async function closeInteractive(
  { hosts, audit }: InteractiveDeps,
  caller: Who,
  shell: Pick<Shell, "shell_id">,
): Promise<void> {
  const session = await findInteractive({ hosts }, shell);
  if (session === undefined || !isLive(session)) return;
  const { session_id, workspace_id } = session;
  const reason = "its session was deleted";
  await hosts.of(session_id).call("session.close", { session_id, detail: reason });
  audit.record({
    ...{ action: "session.closed", caller, workspace_id, target_id: session_id },
    details: { reason },
  });
}

async function createInteractive(
  { hosts, where }: InteractiveDeps,
  { user_id }: Who,
  { shell, mode }: { readonly shell: Shell; readonly mode: Session["mode"] },
): Promise<Session> {
  const { shell_id, workspace_id, work_dir } = shell;
  const { env, umask, open_files } = where;
  return await hosts.place({ work_dir }).call("session.create", {
    ...(mode === "pty"
      ? { kind: "terminal", argv: [...BASH, "-i"] }
      : { kind: "command", argv: BASH, stdin: true }),
    title: `shell of ${shell_id}`,
    work_dir,
    env,
    umask,
    open_files,
    labels: {
      workspace_id,
      [INTERACTIVE_LABEL]: shell_id,
      // Without an owner: whoever attaches first, it is the same one for all.
      idempotency_key: shell_id,
      ...defined({ user_id }),
    },
  });
}
