import { type OperationName, operations } from "#contract/operations.ts";
import type { Role } from "#contract/token.ts";
import { type Door, describeRequest, type TestGateway } from "./gateway.ts";
import { Refused } from "./socket.ts";

/** One of each thing that has an id and belongs to a workspace. */
export interface Place {
  readonly workspace_id: string;
  readonly session_id: string;
  readonly task_id: string;
  readonly shell_id: string;
  readonly token_id: string;
}

export const roles = ["viewer", "operator", "admin"] as const satisfies readonly Role[];

/** Ids of the right form that nothing has. */
export const nowhere: Place = {
  workspace_id: "wsp_0000000000000000",
  session_id: "ses_0000000000000000",
  task_id: "tsk_0000000000000000",
  shell_id: "shl_0000000000000000",
  token_id: "tok_0000000000000000",
};

export interface World {
  readonly gateway: TestGateway;
  readonly a: Place;
  readonly b: Place;
  /** Doors of callers who see one workspace. */
  readonly ofA: Readonly<Record<Role, Door>>;
  readonly ofB: Readonly<Record<Role, Door>>;
  /** An operator who sees both. */
  readonly ofBoth: Door;
}

/** Two workspaces with something of everything in each. */
export async function createWorld(gateway: TestGateway): Promise<World> {
  const [a, b] = [await createPlace(gateway), await createPlace(gateway)];
  const workspaces = [a.workspace_id, b.workspace_id] as never[];
  const both = await gateway.mint({ user_id: "both", role: "operator", workspaces });
  return {
    gateway,
    a,
    b,
    ofA: await createDoors(gateway, a),
    ofB: await createDoors(gateway, b),
    ofBoth: gateway.as(both),
  };
}

export async function createPlace(gateway: TestGateway, workspaceId?: string): Promise<Place> {
  const made =
    workspaceId ?? (await gateway.get("workspace.create", { name: "a place" })).workspace_id;
  // Ids are branded in the table, and these came from it.
  const workspace_id = made as never;
  const session = await gateway.get("session.create", {
    kind: "terminal",
    argv: ["/bin/cat"],
    workspace_id,
  });
  const task = await gateway.get("task.create", { work_dir: "/", workspace_id });
  const shell = await gateway.get("shell.create", { work_dir: "/", workspace_id });
  const token = await gateway.get("token.create", {
    user_id: "somebody",
    role: "viewer",
    workspaces: [workspace_id],
  });
  return {
    workspace_id: made,
    session_id: session.session_id,
    task_id: task.task_id,
    shell_id: shell.shell_id,
    token_id: token.token_id,
  };
}

async function createDoors(gateway: TestGateway, place: Place): Promise<Record<Role, Door>> {
  const workspaces = [place.workspace_id as never];
  const open = async (role: Role) =>
    gateway.as(
      await gateway.mint({ user_id: `${role}-of-${place.workspace_id}`, role, workspaces }),
    );
  return {
    viewer: await open("viewer"),
    operator: await open("operator"),
    admin: await open("admin"),
  };
}

export interface Said {
  readonly status: number;
  readonly text: string;
}

/** Any operation of the table, sockets and streams too; 101 is an upgrade that was done. */
export async function ask(
  door: Door,
  name: OperationName,
  input: Readonly<Record<string, unknown>>,
): Promise<Said> {
  const { path, init } = describeRequest(name, { ...input });
  if (operations[name].answers === "socket") return await askForSocket(door, path);
  const response = await door.fetch(path, init);
  if (name === "sessions.watch" && response.ok) {
    await response.body?.cancel();
    return { status: response.status, text: "" };
  }
  return { status: response.status, text: await response.text() };
}

async function askForSocket(door: Door, path: string): Promise<Said> {
  try {
    await using _socket = await door.socket(path);
    return { status: 101, text: "" };
  } catch (error) {
    if (error instanceof Refused) return { status: error.status, text: JSON.stringify(error.body) };
    throw error;
  }
}

/** What was said, without what differs from one place to another and from one request to the next. */
export function withoutNames({ status, text }: Said, place: Place): Said {
  let plain = text.replace(/"request_id":"[^"]*"/, '"request_id":"…"');
  for (const [name, id] of Object.entries(place)) plain = plain.replaceAll(id, `<${name}>`);
  return { status, text: plain };
}

export function codeOf({ text }: Said): string | undefined {
  return (JSON.parse(text) as { error?: { code: string } }).error?.code;
}
