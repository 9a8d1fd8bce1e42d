import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { SessionKind, SessionName, SystemText, TerminalSize, Title } from "#contract/session.ts";
import { Labels } from "#host/session/session-record.ts";
import { CreateRequest, ReviveRequest } from "#host/sessions/create-request.ts";
import type { HostMethod } from "./methods.ts";

const session_id = z.string().max(limits.label_chars);
const attachment = z.int();
const generation = z.int().min(0).optional();
/** A program, its script, and a few options in between. */
const COMMAND_WORDS = 16;
const INPUT_BASE64_CHARS = Math.ceil(limits.input_bytes / 3) * 4;

/** Unknown fields are allowed here, unlike on the public wire: a newer client may send more than we know. */
export const requests = {
  "connection.bind": z.object({
    session_id: session_id.optional(),
    secret: z.string().max(limits.label_chars),
  }),
  "host.health": z.object({}),
  "host.shutdown": z.object({}),
  "host.upgrade": z.object({
    command: z.array(SystemText.max(limits.path_bytes)).min(1).max(COMMAND_WORDS),
  }),
  "session.create": CreateRequest,
  "session.revive": ReviveRequest,
  "session.list": z.object({
    limit: z.int().min(1).max(limits.list_most).optional(),
    cursor: z.string().max(limits.label_chars).optional(),
    state: z.enum(["live", "starting", "running", "exited", "lost"]).optional(),
    kind: SessionKind.optional(),
    labels: Labels.optional(),
    any_label: z
      .strictObject({
        name: z.string().max(limits.label_chars),
        values: z.array(z.string().max(limits.label_chars)).max(limits.token_workspaces),
      })
      .optional(),
    parent_session_id: session_id.optional(),
    q: z.string().max(limits.title_chars).optional(),
  }),
  "session.get": z.object({ session_id }),
  "session.labels": z.object({ session_id }),
  "session.rename": z.object({
    session_id,
    title: Title.optional(),
    name: SessionName.nullable().optional(),
  }),
  "session.close": z.object({
    session_id,
    detail: SystemText.max(limits.detail_chars).optional(),
    purge: z.boolean().optional(),
  }),
  "session.input": z.object({
    session_id,
    data_b64: z.base64().max(INPUT_BASE64_CHARS).optional(),
    input_id: z.string().min(1).max(limits.input_id_chars).optional(),
    generation,
    eof: z.boolean().optional(),
  }),
  "session.resize": z.object({ session_id, cols: TerminalSize, rows: TerminalSize, generation }),
  "session.signal": z.object({
    session_id,
    signal: z.string().min(1).max(20),
    scope: z.enum(["foreground", "tree"]).optional(),
  }),
  "session.read": z.object({
    session_id,
    log: z.enum(["output", "events"]),
    offset: z.int().min(0),
    limit: z.int().min(1),
  }),
  "session.blob": z.object({ session_id, name: z.string().regex(/^[0-9a-f]{64}$/) }),
  "session.keep_blob": z.object({
    session_id,
    data_b64: z.base64().max(limits.image_b64_chars),
  }),
  "session.tree": z.object({ session_id }),
  "session.attach": z.object({
    session_id,
    viewer: SystemText.min(1).max(limits.label_chars),
    role: z.enum(["viewer", "controller"]),
    takeover: z.boolean().optional(),
    name: z.string().min(1).max(limits.label_chars).optional(),
  }),
  "session.detach": z.object({ attachment }),
  "session.take": z.object({ attachment, takeover: z.boolean().optional() }),
  "session.release": z.object({ attachment }),
  "session.renew": z.object({ attachment }),
  "session.watch": z.object({ session_id, inline: z.boolean().optional() }),
  "session.unwatch": z.object({ watch: z.int() }),
  "sessions.watch": z.object({}),
} as const satisfies Record<HostMethod, z.ZodType>;

export type RequestOf<M extends HostMethod> = z.output<(typeof requests)[M]>;

/** The envelope of every request. */
export const Envelope = z.object({
  id: z.int().min(0),
  method: z.string().max(100),
  params: z.unknown(),
});
