import { AttachQuery } from "#contract/operations/reading.ts";
import { operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { mergeInput } from "#http/request-input.ts";
import { planAttach } from "./attach.ts";
import type { SocketDeps } from "./socket-plan.ts";
import { planTerminals } from "./terminals.ts";
import type { SocketRoute } from "./upgrades.ts";

/** The sockets of the table. */
export function createSocketRoutes(deps: SocketDeps): SocketRoute[] {
  return [
    {
      ...routeOf("session.attach"),
      plan: (caller, { path, query }) => {
        const input = mergeInput({ path, query, body: {} }, AttachQuery);
        return planAttach(deps, caller, parseRequest(AttachQuery, input));
      },
    },
    { ...routeOf("terminal.attach"), plan: (caller) => planTerminals(deps, caller) },
  ];
}

function routeOf(name: "session.attach" | "terminal.attach") {
  const { http, role } = operations[name];
  return { pattern: new URLPattern({ pathname: http.split(" ")[1] ?? "" }), role };
}
