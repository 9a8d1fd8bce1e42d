import * as z from "zod";
import type { FaultCode } from "#contract/faults.ts";
import { limits } from "#contract/limits.ts";
import type { Role } from "#contract/token.ts";

/**
 * How an operation answers:
 * - `json`: one object
 * - `bytes`: raw bytes, what is known about them in headers
 * - `stream`: server-sent events, `output` is the schema of each
 * - `document`: a file of its own media type, streamed
 * - `socket`: a WebSocket, whose frames have a schema of their own
 */
export type AnswerKind = "json" | "bytes" | "stream" | "document" | "socket";

/**
 * Which process runs an operation:
 * - `owner`: the one beside the session's log. The input names the session, the process or the shell, or says what is to
 *   be placed on a host.
 * - `gateway`: the one that has the store
 * - `every-host`: all owners, and the gateway puts their answers together
 */
type Runs = "owner" | "gateway" | "every-host";

export interface OperationSpec {
  readonly http: string;
  readonly summary: string;
  /** What a caller must be; `anyone` needs no token. */
  readonly role: Role | "anyone";
  readonly answers: AnswerKind;
  readonly runs: Runs;
  /** Absent = 200. */
  readonly status?: 200 | 201 | 202;
  /** The request to the session's worker that carries it out; a name of the wire that older workers know. */
  readonly worker?: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** Those that this operation itself gives; every one may also give those of the door. */
  readonly faults: readonly FaultCode[];
}

export const ListPage = {
  limit: z.int().min(1).max(limits.list_most).optional(),
  cursor: z.string().max(limits.label_chars).optional(),
};
export const Done = z.strictObject({});
/** An offset, or `tail` for the end. */
export const Since = z.union([z.int().min(0), z.literal("tail")], {
  error: "an offset from 0 on, or `tail`",
});
