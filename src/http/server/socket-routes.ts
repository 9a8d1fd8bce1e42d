import { AttachQuery } from "#contract/operations/reading.ts";
import { operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { ExecdSocketQuery, planExecdSocket } from "#http/dialects/execd-attach.ts";
import { checkPathIds, mergeInput } from "#http/request-input.ts";
import { planAttach } from "#http/socket/attach.ts";
import type { SocketDeps } from "#http/socket/socket-plan.ts";
import { planTerminals } from "#http/socket/terminals.ts";
import type { SocketRoute } from "./upgrades.ts";

/** The sockets of the table, and the one of the execd API. */
export function createSocketRoutes(deps: SocketDeps): SocketRoute[] {
  return [
    {
      ...routeOf("session.attach"),
      plan: (caller, { path, query, offered }) => {
        checkPathIds(path);
        const input = mergeInput({ path, query, body: {} }, AttachQuery);
        return planAttach(deps, caller, { ...parseRequest(AttachQuery, input), offered });
      },
    },
    {
      ...routeOf("terminal.attach"),
      plan: (caller, { path, query }) => {
        const { input } = operations["terminal.attach"];
        parseRequest(input, mergeInput({ path, query, body: {} }, input));
        return planTerminals(deps, caller);
      },
    },
    {
      pattern: new URLPattern({ pathname: "/ws/session/:id" }),
      role: "operator",
      plan: (caller, { path, query }) => {
        const input = mergeInput({ path, query, body: {} }, ExecdSocketQuery);
        return planExecdSocket(deps, caller, parseRequest(ExecdSocketQuery, input));
      },
    },
  ];
}

function routeOf(name: "session.attach" | "terminal.attach") {
  const { http, role } = operations[name];
  return { pattern: new URLPattern({ pathname: http.split(" ")[1] ?? "" }), role };
}
