// Writes docs/protocol.md and src/client/transport/routes.ts from the contract: node scripts/docs-protocol.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { AgentEvent } from "#contract/agent/events.ts";
import { SessionEvent } from "#contract/events.ts";
import { faults } from "#contract/faults.ts";
import { ClientFrame, ServerFrame } from "#contract/frames.ts";
import { limits } from "#contract/limits.ts";
import { operations } from "#contract/operations.ts";
import { Session } from "#contract/session.ts";
import { Shell } from "#contract/shell.ts";
import { closeCodes } from "#contract/terminal/close-codes.ts";
import { TerminalClientFrame, TerminalServerFrame } from "#contract/terminal-frames.ts";
import { ProcessRead, ProcessResult } from "#contract/tools/process.ts";
import { tools } from "#contract/tools/tools.ts";
import { Task, Workspace } from "#contract/workspace.ts";

const path = fileURLToPath(new URL("../docs/protocol.md", import.meta.url));
/** What is nested deeper is only named by its kind. */
const DEEPEST = 2;
const MOST_WORDS = 12;

/** The first word of an operation's name, and where it belongs. */
const groups = {
  Sessions: ["session", "sessions", "terminal"],
  "Commands and shells": ["process", "shell"],
  Agents: ["team", "agent"],
  "Tasks and workspaces": ["task", "workspace", "directory"],
  "Callers and the server": ["caller", "token", "ticket", "audit", "server"],
};

/** Answers that several routes give. */
const named = { Session, Shell, Task, Workspace, ProcessResult, ProcessRead };

export function formatProtocol() {
  return `${[
    ...opening(),
    ...routes(),
    ...frames(),
    ...events(),
    ...toolList(),
    ...faultList(),
    ...limitList(),
  ].join("\n")}\n`;
}

function opening() {
  return [
    "# The protocol",
    "",
    "Made from the contract by `node scripts/docs-protocol.mjs`; do not edit. [api.md](api.md) says how these parts play",
    "together, `GET /v1/openapi.json` has the schemas in full.",
    "",
    "`?` behind a field means that it may be absent, `[]` a list. Fields that are not named here are refused. An answer may",
    "gain fields, an event stream types: a client passes over what it does not know.",
  ];
}

function routes() {
  const all = Object.entries(operations);
  const parts = Object.keys(groups).flatMap((group) => [
    ...["", `### ${group}`],
    ...all.filter(([name]) => groupOf(name) === group).flatMap(([name, spec]) => route(name, spec)),
  ]);
  const objects = Object.entries(named).map(
    ([name, schema]) => `| \`${name}\` | ${cell(fieldsOf(toSchema(schema, "output"), []))} |`,
  );
  return [
    ...["", "## Routes", "", ...routeNotes(), ...parts],
    ...["", "### What several of them answer", "", "| | fields |", "|---|---|", ...objects],
  ];
}

function routeNotes() {
  return [
    "Behind each route: its name in the typed client, the role that it takes, and how it answers when that is not one JSON",
    "object. `stream` is server-sent events, `socket` a WebSocket, `bytes` and `document` are raw. Every route can also be",
    "refused with `invalid_request`, `unauthenticated`, `forbidden`, `too_many`, `internal`, `host_unavailable`,",
    "`shutting_down`, `disk_full`, `overloaded` and `log_damaged`.",
  ];
}

function groupOf(name) {
  const [noun] = name.split(".");
  const found = Object.entries(groups).find(([, nouns]) => nouns.includes(noun));
  if (found === undefined) throw new Error(`no group has the operation ${name}`);
  return found[0];
}

function route(name, spec) {
  const [method, where] = spec.http.split(" ");
  const inPath = [...where.matchAll(/:(\w+)/g)].map((match) => match[1]);
  const input = fieldsOf(toSchema(spec.input, "input"), inPath);
  const output = answerOf(spec);
  const how = [
    spec.role,
    ...(spec.answers === "json" ? [] : [spec.answers]),
    ...(spec.status === undefined ? [] : [String(spec.status)]),
  ];
  const own = spec.faults.filter((code) => code !== "invalid_request");
  return [
    "",
    `**\`${method} ${where.replace(/:(\w+)/g, "{$1}")}\`** · ${code(name)} · ${how.join(" · ")}`,
    "",
    spec.summary,
    "",
    ...(input === "" ? [] : [`- takes ${code(input)}`]),
    ...(output === "" ? [] : [`- answers ${code(output)}`]),
    ...(own.length === 0 ? [] : [`- may be refused with ${own.map(code).join(", ")}`]),
  ];
}

function answerOf(spec) {
  const known = Object.entries(named).find(([, schema]) => schema === spec.output);
  if (known !== undefined) return known[0];
  if (spec.answers !== "json") return "";
  const type = typeOf(toSchema(spec.output, "output"), 0);
  return type === "{}" || type === "object" ? "" : type;
}

function frames() {
  return [
    ...["", "## Frames", "", "### `GET /v1/sessions/{session_id}/ws`", ""],
    ...["From the client:", "", ...variants(ClientFrame)],
    ...["", "From the server:", "", ...variants(ServerFrame)],
    ...["", "### `GET /v1/terminals/ws`", ""],
    ...["From the client:", "", ...variants(TerminalClientFrame)],
    ...["", "From the server:", "", ...variants(TerminalServerFrame)],
    ...["", "### How a socket closes", "", "| code | |", "|---|---|"],
    ...Object.entries(closeCodes).map(([name, number]) => `| ${number} | \`${name}\` |`),
  ];
}

function events() {
  return [
    ...["", "## Events", ""],
    "Each has `type`, `at` and `session_id`. Those of agents may have `agent`, `turn_id` and `subagent_id`.",
    ...["", "### Of every session", "", ...variants(SessionEvent, ["at", "session_id"])],
    ...["", "### Of agents", ""],
    ...variants(AgentEvent, ["at", "session_id", "agent", "turn_id", "subagent_id"]),
  ];
}

function toolList() {
  const rows = Object.entries(tools).map(
    ([name, tool]) => `| \`${name}\` | ${cell(fieldsOf(toSchema(tool.input, "input"), []))} |`,
  );
  return ["", "## Tools for models", "", "| tool | takes |", "|---|---|", ...rows];
}

function faultList() {
  const rows = Object.entries(faults).map(
    ([name, { status, exit, retry }]) =>
      `| \`${name}\` | ${status} | ${exit} | ${retry ? "yes" : ""} |`,
  );
  return [
    ...["", "## Faults", ""],
    "`retry`: the same again later may work.",
    ...["", "| code | HTTP status | exit code | retry |", "|---|---|---|---|", ...rows],
  ];
}

function limitList() {
  const rows = Object.entries(limits).map(
    ([name, value]) => `| \`${name}\` | ${inWords(name, value)} |`,
  );
  return [
    "",
    "## Limits",
    "",
    "As `GET /v1/limits` prints them.",
    "",
    "| limit | |",
    "|---|---|",
    ...rows,
  ];
}

/** One row for each type of a union of objects. */
function variants(union, left = []) {
  const rows = union.options.map((option) => {
    const schema = toSchema(option, "output");
    const name = schema.properties.type.const;
    const payload = schema.properties.payload ?? schema;
    return `| \`${name}\` | ${cell(fieldsOf(payload, ["type", ...left]))} |`;
  });
  return ["| type | fields |", "|---|---|", ...rows];
}

function toSchema(schema, io) {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" });
}

function fieldsOf(schema, left) {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties)
    .filter(([name]) => !left.includes(name))
    .map(([name, value]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(value, 1)}`)
    .join(", ");
}

function typeOf(schema, depth) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return wordsOf(schema.enum.map((word) => JSON.stringify(word)));
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined)
    return wordsOf([...new Set(union.map((part) => typeOf(part, depth + 1)))]);
  if (schema.type === "array") return `${grouped(typeOf(schema.items ?? {}, depth + 1))}[]`;
  if (schema.type === "object") return objectOf(schema, depth);
  return [schema.type ?? "any"].flat().join(" | ");
}

function objectOf(schema, depth) {
  if (schema.properties === undefined) return "object";
  if (Object.keys(schema.properties).length === 0) return "{}";
  return depth >= DEEPEST ? "object" : `{${fieldsOf(schema, [])}}`;
}

const grouped = (type) => (type.includes(" | ") ? `(${type})` : type);

function wordsOf(words) {
  const shown = words.slice(0, MOST_WORDS);
  return [...shown, ...(words.length > shown.length ? ["…"] : [])].join(" | ");
}

const code = (text) => `\`${text}\``;
/** In a table a bar has to be escaped, also in code. */
const cell = (text) => (text === "" ? "" : code(text.replaceAll("|", "\\|")));

function inWords(name, value) {
  const scales = name.endsWith("_ms")
    ? [
        [86_400_000, "d"],
        [3_600_000, "h"],
        [60_000, "min"],
        [1000, "s"],
        [1, "ms"],
      ]
    : name.endsWith("_bytes")
      ? [
          [2 ** 30, "GiB"],
          [2 ** 20, "MiB"],
          [2 ** 10, "KiB"],
          [1, "bytes"],
        ]
      : [[1, ""]];
  const [scale, unit] = scales.find(([size]) => value % size === 0) ?? [1, ""];
  return `${value / scale} ${unit}`.trim();
}

function formatClientRoutes() {
  const rows = Object.entries(operations).map(([name, { http }]) => `  "${name}": "${http}",`);
  return `// Generated by scripts/docs-protocol.mjs; do not edit.
import type { OperationName } from "#contract/operations.ts";

/** The routes of the table without its schemas: a page that makes a request does not load all of zod. */
export const routes: Readonly<Record<OperationName, string>> = {
${rows.join("\n")}
};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = formatProtocol();
  if (process.argv.includes("--check")) {
    if (readFileSync(path, "utf8") !== text)
      throw new Error("docs/protocol.md is old: node scripts/docs-protocol.mjs");
  } else {
    writeFileSync(path, text);
    writeFileSync(
      new URL("../src/client/transport/routes.ts", import.meta.url),
      formatClientRoutes(),
    );
  }
}
