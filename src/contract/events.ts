import * as z from "zod";
import { SessionId } from "./ids.ts";
import { Controller } from "./session.ts";
import { SessionState } from "./session-state.ts";

const fact = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), at: z.iso.datetime(), session_id: SessionId, ...shape });

/** What the host writes to a session's events log: one JSON object a line, its id is the offset behind the line. */
export const SessionEvent = z.discriminatedUnion("type", [
  fact("session.opened", {
    kind: z.string(),
    argv: z.array(z.string()),
    work_dir: z.string(),
    title: z.string(),
    cols: z.int().nullable(),
    rows: z.int().nullable(),
  }),
  /** First of every later life of an agent; `from` is where the events of that life begin. */
  fact("session.resumed", { life: z.int(), from: z.int() }),
  fact("session.attached", { viewer: z.string(), role: z.enum(["viewer", "controller"]) }),
  fact("session.detached", { viewer: z.string() }),
  fact("session.control", { controller: Controller.nullable(), taken_from: z.string().nullable() }),
  /** `offset` is the output's tail at that moment: what follows was printed for the new size. */
  fact("session.resized", { cols: z.int(), rows: z.int(), offset: z.int() }),
  fact("session.title", { title: z.string() }),
  /** Once a life; again when an agent that may be started again is closed for good. */
  fact("session.exited", { state: SessionState }),
  fact("warning", { code: z.string(), message: z.string() }),
]);
export type SessionEvent = z.infer<typeof SessionEvent>;

export const sessionEventTypes = SessionEvent.options.map((option) => option.shape.type.value);
