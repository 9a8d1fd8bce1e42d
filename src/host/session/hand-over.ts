import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { isErrno } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { HAND_OVER_FILE } from "#host/hand-over-file.ts";
import { SessionRecord } from "./session-record.ts";

/**
 * What a host leaves to the program that takes its process over, in one file: all that memory alone knew. It lies there
 * only while the one program ends and the other begins.
 *
 *   written ──exec──> claimed by the same process ──adopted──> removed
 *      └─exec failed─> removed
 *
 * The head is read by every version; the rest only by those that know its version.
 */
export const HAND_OVER_VERSION = 1;
export const READ_VERSIONS: readonly number[] = [HAND_OVER_VERSION];

const Descriptor = z.int().min(3);
const Milliseconds = z.number().min(0);
const Identity = z.object({ pid: z.int(), start_time: z.int(), boot_id: z.string() });

const HandedChild = z.object({
  identity: Identity,
  limit_mark: z.int().nullable(),
  state: z.enum(["running", "exited", "final"]),
  has_cgroup: z.boolean(),
  wiring: z
    .object({
      terminal: z.boolean(),
      outputs: z
        .array(z.object({ channel: z.enum(["stdout", "stderr"]), fd: Descriptor }))
        .readonly(),
      slave: Descriptor.nullable(),
      stdin: Descriptor.nullable(),
      input_b64: z.base64(),
      input_ending: z.boolean(),
    })
    .nullable(),
});

const HandedLife = z.object({
  child: HandedChild.nullable(),
  /** Since something was typed or printed, and since its start. */
  idle_ms: Milliseconds,
  age_ms: Milliseconds,
  input_ids: z.array(z.string()),
  /** An agent's line that has not ended yet. */
  line: z.object({ partial_b64: z.base64(), is_skipping: z.boolean() }).nullable(),
});
export type HandedLife = z.infer<typeof HandedLife>;

const HandedAudience = z.object({
  viewers: z.array(z.string()),
  /** Viewers whose attachments have names. An older program knew none, and counted no inputs. */
  named: z.array(z.object({ viewer: z.string(), name: z.string() })).default([]),
  inputs: z.array(z.object({ attachment: z.string(), applied: z.int() })).default([]),
  generation: z.int(),
  holder: z.string().nullable(),
  lease_ms: Milliseconds,
});
export type HandedAudience = z.infer<typeof HandedAudience>;

export const HandedSession = z.object({
  record: SessionRecord,
  has_open_logs: z.boolean(),
  tail: z.int(),
  events_tail: z.int(),
  life: HandedLife,
  audience: HandedAudience,
});
export type HandedSession = z.infer<typeof HandedSession>;

const HandedConnection = z.object({
  fd: Descriptor,
  /** The beginning of a frame whose rest has not come. */
  unread_b64: z.base64(),
  serial: z.int(),
  attachments: z.array(
    z.object({
      number: z.int(),
      session_id: z.string(),
      viewer: z.string(),
      role: z.enum(["viewer", "controller"]),
      generation: z.int().nullable(),
      name: z.string().nullable().default(null),
    }),
  ),
  watch_serial: z.int(),
  watches: z.array(z.object({ number: z.int(), session_id: z.string(), inline: z.boolean() })),
  watches_all: z.boolean(),
  /** Whose it is: `user` or a session's id. Null: it has asked for nothing yet, or an older program did not know. */
  owner: z.string().nullable().default(null),
  /** The request that asked for the upgrade, which is still to be answered. */
  upgrade_id: z.int().nullable(),
});
export type HandedConnection = z.infer<typeof HandedConnection>;

const HandedServer = z.object({
  listener: Descriptor,
  connections: z.array(HandedConnection),
});
export type HandedServer = z.infer<typeof HandedServer>;

const Head = z.object({
  version: z.int(),
  process: Identity,
  /** Every descriptor in it. */
  descriptors: z.array(Descriptor),
  /** How to run the program that wrote it. */
  back: z.array(z.string()).min(1),
  /** It was refused once, and its writer goes on with it. */
  is_returned: z.boolean(),
});
export type Head = z.infer<typeof Head>;

export const HandOver = z.object({
  ...Head.shape,
  version: z.literal(HAND_OVER_VERSION),
  from_version: z.string(),
  /** By the clock that all programs of this machine share. */
  at_ns: z.string().regex(/^\d+$/),
  sessions: z.array(HandedSession),
  server: HandedServer,
});
export type HandOver = z.infer<typeof HandOver>;

export function writeHandOver(dataPath: string, handOver: HandOver): void {
  writeFileAtomic(join(dataPath, HAND_OVER_FILE), JSON.stringify(handOver));
}

export function removeHandOver(dataPath: string): void {
  rmSync(join(dataPath, HAND_OVER_FILE), { force: true });
}

/** What lies in the data directory: the head alone, which every version can read; undefined when nothing does. */
export function findHandOver(dataPath: string): { head: Head; content: unknown } | undefined {
  const text = readIfThere(join(dataPath, HAND_OVER_FILE));
  if (text === undefined) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    const head = Head.safeParse(content);
    return head.success ? { head: head.data, content } : undefined;
  } catch {
    // It is written as a whole, so this is nobody's hand-over.
    return undefined;
  }
}

/** Throws `unsupported` for one of a version that is not known here. */
export function parseHandOver(content: unknown): HandOver {
  const parsed = HandOver.safeParse(content);
  if (parsed.success) return parsed.data;
  const head = Head.safeParse(content);
  throw new Fault(
    "unsupported",
    `a hand-over of version ${head.data?.version} cannot be read by this version of reins, which knows ${READ_VERSIONS.join(", ")}`,
    { details: { known: READ_VERSIONS }, cause: parsed.error },
  );
}

/** Marks it as refused, so that it is not passed on again. */
export function returnHandOver(dataPath: string, content: unknown): void {
  const returned = { ...Object(content), is_returned: true };
  writeFileAtomic(join(dataPath, HAND_OVER_FILE), JSON.stringify(returned));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
