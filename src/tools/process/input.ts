import type { Caller } from "#app/caller.ts";
import { isLive } from "#contract/ended.ts";
import { Fault } from "#contract/fault.ts";
import type { ToolInput, ToolOutput } from "#contract/tools/tools.ts";
import { openVisibleProcess, type ProcessDeps, recordAction } from "./visible-process.ts";

type Result = ToolOutput<"process_input">;

const HAS_EXITED: Result = { success: false, message: "it has exited" };

export async function typeInto(
  deps: ProcessDeps,
  caller: Caller,
  { process_id, text = "", enter = false, eof = false }: ToolInput<"process_input">,
): Promise<Result> {
  const keys = enter ? `${text}\r` : text;
  if (keys === "" && !eof)
    throw new Fault("invalid_request", "say what to type: text, enter or eof");
  using feed = await openVisibleProcess(deps, caller, process_id);
  const { session } = feed;
  if (session.mode !== "pty")
    throw new Fault(
      "invalid_request",
      "this process reads no input; start it with tty: true to type into it",
    );
  if (!isLive(session)) return HAS_EXITED;
  const bytes = Buffer.from(keys);
  const request = { session_id: process_id, data_b64: bytes.toString("base64"), eof };
  try {
    await deps.hosts.of(process_id).call("session.input", request);
  } catch (error) {
    if (error instanceof Fault && error.code === "already_exited") return HAS_EXITED;
    throw error;
  }
  const details = { inputs: 1, bytes: bytes.length };
  recordAction(deps, caller, { action: "session.wrote", session, details });
  return {
    success: true,
    message: `typed ${bytes.length} bytes${eof ? " and the end of input" : ""}`,
  };
}
