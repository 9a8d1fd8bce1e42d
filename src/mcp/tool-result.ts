import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Logger } from "#base/logger.ts";
import { asFault, toFaultBody } from "#contract/fault.ts";
import { ProcessRead, ProcessResult } from "#contract/tools/process.ts";
import { sayProcess } from "#contract/tools/process-text.ts";
import { type ToolName, tools } from "#contract/tools/tools.ts";

export type ToolResult = CallToolResult;

/** Where the whole fault stands. Not the structured content: that has the shape of what the tool answers. */
const FAULT_KEY = "reins/fault";

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
  tool: string,
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
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${end}${JSON.stringify(rest)}`;
}
