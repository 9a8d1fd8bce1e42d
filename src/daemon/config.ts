import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type Document, LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import { findWrongType } from "#app/event-types.ts";
import { isErrno } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { parseListen } from "./listen.ts";

const PASSTHROUGH_NAMES = 200;
const TEAM_ROOTS = 100;
const TEAM_NAME = /^[A-Za-z0-9][\w.-]*$/;
const Path = z.string().refine(isAbsolute, "must be an absolute path");
const Url = z
  .url({ protocol: /^https?$/, message: "must be an address such as https://reins.example.org" })
  // What is no address at all has been said before.
  .refine((text) => ["", "/"].includes(URL.parse(text)?.pathname ?? ""), "must have no path");
const EventType = z
  .string()
  .max(limits.name_chars)
  .check(({ value, issues }) => {
    const message = findWrongType(value);
    if (message !== undefined) issues.push({ code: "custom", input: value, message });
  });

/** `config.yaml` of the data directory. Flags of `reins serve` come before it. */
export const Config = z.strictObject({
  /** host:port; port 0 picks one. */
  listen: z
    .string()
    .refine(
      (text) => parseListen(text) !== undefined,
      "must look like 127.0.0.1:7346 or [::1]:7346",
    )
    .optional(),
  /** How the world sees the server, when something stands before it. */
  public_url: Url.optional(),
  tls: z.strictObject({ cert: Path, key: Path }).optional(),
  /** Listens beyond this machine without TLS. */
  allow_insecure: z.boolean().optional(),
  /** Names of variables that children of callers from afar get besides the usual ones. */
  env_passthrough: z
    .array(
      z
        .string()
        .regex(/^(?!REINS_)[A-Za-z_]\w*$/, "must be the name of a variable, not one of REINS_"),
    )
    .max(PASSTHROUGH_NAMES)
    .optional(),
  /** What a terminal runs that is not told. */
  shell: Path.optional(),
  /** For terminals of tasks; 0 = never. */
  task_idle_timeout_ms: z.int().min(0).max(limits.duration_ms).optional(),
  /** How long `execute` waits for the end of a command when it is not told. */
  execute_wait_ms: z.int().min(1).max(limits.wait_longest_ms).optional(),
  /** How long an agent may have nothing to do before its worker ends until it is needed; 0 = never. */
  agent_idle_ms: z.int().min(0).max(limits.duration_ms).optional(),
  /** Folders whose files callers may name as teams; none unless it is said. */
  team_roots: z.array(Path).max(TEAM_ROOTS).optional(),
  /** Commands that `reins run` tells what happens, besides those of its flags; `*` is every type of event. */
  on_event: z
    .array(
      z.strictObject({
        type: EventType,
        command: z.string().min(1).max(limits.path_bytes),
      }),
    )
    .max(limits.event_hooks)
    .optional(),
  /** Name → file, besides those in the folder `teams` of the data directory. */
  teams: z
    .record(
      z.string().max(limits.name_chars).regex(TEAM_NAME, "must be letters, digits, _ - and dots"),
      Path,
    )
    .refine((teams) => Object.keys(teams).length <= limits.list_most, "too many teams")
    .optional(),
});
export type Config = z.infer<typeof Config>;

/** An alias without its anchor is found only when it is followed, and not said with its place. */
function readValue(path: string, document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw wrong(path, { line: 1, col: 1 }, why);
  }
}

/** No file is an empty one. What is wrong is said with its line. */
export function readConfig(path: string): Config {
  const text = readText(path);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) throw wrong(path, lines.linePos(broken.pos[0]), broken.message);
  const parsed = Config.safeParse(readValue(path, document) ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const keys = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const place = [...(issue?.path ?? []), ...keys.slice(0, 1)];
  const offset = offsetOf(document, place);
  const what =
    keys.length > 0
      ? `there is no setting ${keys.join(", ")}; known are ${known()}`
      : issue?.message;
  const name = keys.length > 0 || place.length === 0 ? "" : `${place.join(".")}: `;
  throw wrong(path, lines.linePos(offset), `${name}${what ?? "not valid"}`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return "";
    throw new Fault("invalid_request", `cannot read ${path}: ${String(error)}`, { cause: error });
  }
}

type Place = readonly PropertyKey[];

function offsetOf(document: ReturnType<typeof parseDocument>, place: Place): number {
  for (let depth = place.length; depth > 0; depth -= 1) {
    const node = document.getIn(place.slice(0, depth), true);
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range))
      return Number(node.range[0]);
  }
  return 0;
}

function known(): string {
  return Object.keys(Config.shape).join(", ");
}

function wrong(
  path: string,
  { line, col }: { readonly line: number; readonly col: number },
  message: string,
): Fault {
  return new Fault("invalid_request", `${path}:${line}:${col}: ${message}`, {
    details: { file: path, line, column: col },
  });
}
