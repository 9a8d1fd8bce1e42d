import * as z from "zod";
import { SessionId } from "#contract/ids.ts";
import { limits } from "#contract/limits.ts";
import {
  Duration,
  InheritedEnvironment,
  SessionKind,
  SessionName,
  SystemText,
  TerminalSize,
  Title,
} from "#contract/session.ts";
import { Labels } from "#host/session/session-record.ts";

const Argv = z
  .array(
    SystemText.refine(
      (text) => Buffer.byteLength(text) <= limits.argument_bytes,
      "an argument is too long",
    ),
  )
  .min(1)
  .max(limits.arguments)
  .refine((argv) => argv[0] !== "", "the program's name is empty");

const OpenFiles = z.int().min(1);
const Umask = z.int().min(0).max(0o777);
const WorkDir = SystemText.min(1).max(limits.path_bytes);

/** What the host needs to start a session; whoever serves others has checked and completed it. */
export const CreateRequest = z
  .object({
    kind: SessionKind,
    command: SystemText.max(limits.body_bytes)
      .refine((line) => line.trim() !== "", "the command is empty")
      .optional(),
    argv: Argv.optional(),
    shell: SystemText.max(limits.path_bytes).optional(),
    work_dir: WorkDir,
    /** The caller's whole environment, or the part of the gateway's that its callers may see. */
    env: InheritedEnvironment,
    open_files: OpenFiles.optional(),
    brief: z.boolean().optional(),
    umask: Umask.optional(),
    cols: TerminalSize.optional(),
    rows: TerminalSize.optional(),
    name: SessionName.optional(),
    title: Title.optional(),
    stdin: z.boolean().optional(),
    merged: z.boolean().optional(),
    labels: Labels.optional(),
    parent_session_id: SessionId.optional(),
    detach: z.boolean().optional(),
    idle_timeout_ms: Duration.optional(),
    lifetime_ms: Duration.optional(),
    grace_ms: z.int().min(0).max(limits.grace_longest_ms).optional(),
  })
  .refine((request) => request.command === undefined || request.argv === undefined, {
    message: "give command or argv, not both",
    path: ["argv"],
  })
  .refine((request) => request.kind === "command" || request.merged !== true, {
    message: "only a command has pipes that can be one",
    path: ["merged"],
  })
  .refine(
    (request) =>
      request.kind === "terminal" || request.command !== undefined || request.argv !== undefined,
    {
      message: "say what to run: command or argv",
      path: ["command"],
    },
  );
export type CreateRequest = z.output<typeof CreateRequest>;

/** What the host needs to start an agent again; all else is as it was. */
export const ReviveRequest = z.object({
  session_id: SessionId,
  argv: Argv,
  env: InheritedEnvironment,
  umask: Umask.optional(),
  open_files: OpenFiles.optional(),
  work_dir: WorkDir.optional(),
});
export type ReviveRequest = z.output<typeof ReviveRequest>;
