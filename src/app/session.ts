import type { OperationInput, OperationName, OperationOutput } from "#contract/operations.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { HostCreate } from "#host/socket/methods.ts";
import type { Caller } from "./caller.ts";

/** One handler for each operation, over the host. Types alone come from the table: its schemas are not loaded here. */
export type Operations = {
  readonly [N in OperationName]: (input: OperationInput<N>) => Promise<OperationOutput<N>>;
};

export function createSessionOperations(host: HostClient, caller: Caller): Operations {
  return {
    "session.create": (input) => host.call("session.create", toHostCreate(input, caller)),
    "session.list": async ({ workspace_id = caller.workspace_id, task_id, ...filters }) => {
      const labels = { workspace_id, ...(task_id === undefined ? {} : { task_id }) };
      const { sessions, cursor } = await host.call("session.list", { ...filters, labels });
      return { sessions: [...sessions], cursor };
    },
    "session.get": (input) => host.call("session.get", input),
    "session.update": (input) => host.call("session.rename", input),
    "session.close": ({ session_id, reason, purge }) =>
      host.call("session.close", {
        session_id,
        ...(reason === undefined ? {} : { detail: reason }),
        ...(purge === undefined ? {} : { purge }),
      }),
    "session.input": ({ data, data_b64, takeover: _, ...input }) =>
      host.call("session.input", {
        ...input,
        data_b64: data_b64 ?? Buffer.from(data ?? "").toString("base64"),
      }),
    "session.resize": (input) => host.call("session.resize", input),
    "session.signal": (input) => host.call("session.signal", input),
    "session.interrupt": ({ session_id }) =>
      host.call("session.signal", { session_id, signal: "SIGINT" }),
  };
}

function toHostCreate(input: OperationInput<"session.create">, caller: Caller): HostCreate {
  const { env = {}, workspace_id, task_id, idempotency_key, work_dir, ...rest } = input;
  const labels: Record<string, string | undefined> = {
    workspace_id: workspace_id ?? caller.workspace_id,
    task_id,
    user_id: caller.user_id,
    idempotency_key,
  };
  return {
    ...rest,
    work_dir: work_dir ?? caller.work_dir,
    env: { ...caller.env, ...env },
    umask: caller.umask,
    open_files: caller.open_files,
    labels: Object.fromEntries(
      Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}
