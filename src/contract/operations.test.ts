import { expect, test } from "vitest";
import * as z from "zod";
import type { OperationSpec } from "./operations/operation-spec.ts";
import { operations } from "./operations.ts";

const rows: readonly (readonly [string, OperationSpec])[] = Object.entries(operations);
const named = (runs: string) => rows.filter(([, row]) => row.runs === runs).map(([name]) => name);
/** Names the session by itself, or what belongs to one host as a session does. */
const OWNED = ["session_id", "process_id", "shell_id"];

test("every operation says which process runs it", () => {
  expect(named("gateway")).toEqual([
    "terminal.attach",
    "shell.list",
    "workspace.create",
    "workspace.list",
    "workspace.get",
    "workspace.update",
    "workspace.delete",
    "task.create",
    "task.list",
    "task.get",
    "task.update",
    "task.delete",
    "caller.get",
    "caller.logout",
    "token.create",
    "token.list",
    "token.revoke",
    "ticket.create",
    "ticket.exchange",
    "audit.list",
    "server.health",
    "server.limits",
    "server.openapi",
    "server.metrics",
  ]);
  expect(named("every-host")).toEqual([
    "session.list",
    "session.glances",
    "sessions.watch",
    "process.list",
    "team.list",
  ]);
  const known = named("owner").length + named("gateway").length + named("every-host").length;
  expect(known).toBe(rows.length);
});

test("an operation of an owner names what is there, or places something new", () => {
  const placed = rows.filter(([, { runs, input }]) => {
    const { required = [] } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
    return runs === "owner" && !required.some((field) => OWNED.includes(field));
  });
  expect(placed.map(([name]) => name)).toEqual([
    "session.create",
    "shell.create",
    "process.execute",
    "team.load",
    "agent.create",
    "directory.list",
  ]);
});

test("only an operation of an owner names a session, a process or a shell in its path", () => {
  const elsewhere = rows.filter(
    ([, { runs, http }]) => runs !== "owner" && OWNED.some((field) => http.includes(`:${field}`)),
  );
  expect(elsewhere).toEqual([]);
});
