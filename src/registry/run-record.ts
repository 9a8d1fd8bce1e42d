import { isObject } from "#contract/values/is-object.ts";
import { parseObject } from "#contract/values/parse-object.ts";
/** Who a process is: a pid alone is given to others later, the three together never are. */
export interface RecordedProcess {
  readonly pid: number;
  readonly start_time: number;
  readonly boot_id: string;
}

/**
 * A run that has a control plane of its own. What lives is known by the host alone; a record only adds the address,
 * how to be let in there, and who serves it. See docs/adr/0008-registry.md.
 */
export interface RunRecord {
  readonly version: typeof RECORD_VERSION;
  readonly session_id: string;
  /** Of the run's child when this was written; null while it had none. */
  readonly pid: number | null;
  readonly start_time: number | null;
  readonly kind: "terminal" | "command" | "agent";
  readonly agent?: string | undefined;
  readonly started_at: string;
  readonly work_dir: string;
  /** `http://…`, `https://…` or `unix:/…`; null = it is reached through the host. */
  readonly address: string | null;
  /** Of that address alone. */
  readonly token?: string | undefined;
  /** The process that answers there, or that wrote this. */
  readonly server: RecordedProcess;
}

export const RECORD_VERSION = 1;
export const SESSION_ID = /^ses_[0-9a-z]{16}$/;
const ADDRESS = /^(https?:\/\/|unix:\/)/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const KINDS: readonly unknown[] = ["terminal", "command", "agent"];

/** Undefined for what is torn, not ours, or of a newer version. By hand: `reins ps` comes by here and loads no schema. */
export function parseRecord(text: string): RunRecord | undefined {
  const value = parseObject(text);
  if (value === undefined || value.version !== RECORD_VERSION) return undefined;
  const isRecord =
    isText(value.session_id, SESSION_ID) &&
    KINDS.includes(value.kind) &&
    isText(value.started_at, TIME) &&
    typeof value.work_dir === "string" &&
    (value.address === null || isText(value.address, ADDRESS)) &&
    isOptionalText(value.token) &&
    isOptionalText(value.agent) &&
    isChild(value) &&
    isProcess(value.server);
  // Every field has been looked at.
  return isRecord ? (value as unknown as RunRecord) : undefined;
}

/** The newest first; of two in the same moment the greater id, so that everybody sees one order. */
export function compareNewest(
  a: { readonly at: string; readonly id: string },
  b: { readonly at: string; readonly id: string },
): number {
  const [first, second] = [`${a.at} ${a.id}`, `${b.at} ${b.id}`];
  if (first === second) return 0;
  return first < second ? 1 : -1;
}

type Fields = Readonly<Record<string, unknown>>;

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isChild({ pid, start_time }: Fields): boolean {
  if (pid === null) return start_time === null;
  return isPid(pid) && isCount(start_time);
}

function isProcess(value: unknown): boolean {
  if (!isObject(value)) return false;
  return isPid(value.pid) && isCount(value.start_time) && typeof value.boot_id === "string";
}

function isPid(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
