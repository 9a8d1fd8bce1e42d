import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Logger } from "#base/logger.ts";
import { asFault, toFaultBody } from "#contract/fault.ts";
import { ProcessRead, ProcessResult } from "#contract/tools/process.ts";
import { type ToolName, tools } from "#contract/tools/tools.ts";

export type ToolResult = CallToolResult;

/** Where the whole fault stands. Not the structured content: that has the shape of what the tool answers. */
export const FAULT_KEY = "reins/fault";

/** The answer twice: as data, and as a text that a model reads well. Throws when it is not what the tool answers. */
export function describeResult(name: ToolName, value: unknown): ToolResult {
  // Every tool answers an object.
  const output = tools[name].output.parse(value) as Record<string, unknown>;
  return {
    content: [{ type: "text", text: sayOutput(name, output) }],
    structuredContent: output,
  };
}

/** What is refused is an answer too: a model can read it and do better. */
export function describeFailure(
  { log }: { readonly log: Logger },
  tool: ToolName,
  { error, isExpected }: { readonly error: unknown; readonly isExpected: boolean },
): ToolResult {
  const { code, message, details } = toFaultBody(asFault(error));
  const isBug = code === "internal";
  if (isBug && !isExpected) log.error("a tool failed", { tool, error });
  const fault = isBug ? { code, message: NO_INNER_WORDS, details: {} } : { code, message, details };
  return {
    content: [{ type: "text", text: `${fault.code}: ${fault.message}` }],
    isError: true,
    _meta: { [FAULT_KEY]: fault },
  };
}

/** The words of a bug are no caller's business. */
const NO_INNER_WORDS = "something went wrong inside Reins; its log has it";

function sayOutput(name: ToolName, output: Record<string, unknown>): string {
  const schema = tools[name].output;
  if (schema === ProcessResult || schema === ProcessRead)
    return sayProcess(schema.parse(output) as ProcessResult | ProcessRead);
  const { output: printed, screen, ...rest } = output;
  const text = screen ?? printed;
  if (typeof text !== "string") return JSON.stringify(output);
  // Lines as they are, which JSON would make one of.
  return join(text, [JSON.stringify(rest)]);
}

/** The output, then how it stands, a line each. */
function sayProcess(result: ProcessResult | ProcessRead): string {
  const { error, note, truncated, background_process_id: id } = result;
  const lines = [
    sayState(result),
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(id === undefined ? [] : [`background_process_id: ${id}`]),
    ...("next_offset" in result ? [`next_offset: ${result.next_offset}`] : []),
    ...(truncated === undefined
      ? []
      : [
          `${truncated.omitted_bytes} of ${truncated.original_bytes} bytes omitted, from offset ${truncated.spool_offset} on`,
        ]),
    ...(note === undefined ? [] : [`note: ${note}`]),
  ];
  return join(
    result.output,
    lines.map((line) => `[${line}]`),
  );
}

function sayState({ running, exit_code, signal, wall_duration_ms }: ProcessResult): string {
  const after = `after ${(wall_duration_ms / 1000).toFixed(1)} s`;
  if (running) return `still running ${after}`;
  const by = signal === undefined ? "" : `, ended by ${signal}`;
  return exit_code === undefined
    ? `no exit code ${after}${by}`
    : `exit code ${exit_code} ${after}${by}`;
}

function join(text: string, lines: readonly string[]): string {
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${end}${lines.join("\n")}`;
}
