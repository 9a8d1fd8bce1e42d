import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { describeRequest } from "#client/transport.ts";
import { operations } from "#contract/operations.ts";
import { routes } from "./routes.ts";

const rows = Object.entries(operations);

test("the routes are those of the table", () => {
  expect(routes, "node scripts/docs-protocol.mjs writes them").toEqual(
    Object.fromEntries(rows.map(([name, { http }]) => [name, http])),
  );
});

test("the client covers every operation, each by its kind", () => {
  const client = createClient({ url: "http://127.0.0.1:1" });
  const ways = {
    json: client.call,
    bytes: client.output,
    stream: client.stream,
    document: client.document,
    socket: client.attach,
  };
  expect(rows.filter(([, { answers }]) => typeof ways[answers] !== "function")).toEqual([]);
  const named = (kind: string) =>
    rows.filter(([, { answers }]) => answers === kind).map(([name]) => name);
  expect(named("bytes")).toEqual(["session.output"]);
  expect(named("socket")).toEqual(["session.attach", "terminal.attach"]);
});

test("names go into the path, the rest of a GET into the query, of a POST into the body", () => {
  expect(
    describeRequest("session.output", { session_id: "ses_a/b", since: 5, limit: undefined }),
  ).toEqual({
    method: "GET",
    path: "/v1/sessions/ses_a%2Fb/output?since=5",
    body: undefined,
  });
  expect(describeRequest("session.close", { session_id: "s", purge: true }).path).toBe(
    "/v1/sessions/s?purge=true",
  );
  expect(describeRequest("session.input", { session_id: "s", data: "x" })).toEqual({
    method: "POST",
    path: "/v1/sessions/s/input",
    body: '{"data":"x"}',
  });
});

test("an id that would lead to another route is refused", () => {
  for (const session_id of ["", ".", "..", undefined])
    expect(() => describeRequest("session.close", { session_id })).toThrow(
      /session_id: .*names nothing/,
    );
});
