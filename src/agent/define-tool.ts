import * as z from "zod";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { parseRequest } from "#contract/parse.ts";
import { defined } from "#contract/values/defined.ts";
import type { JsonSchema } from "#model/model.ts";
import type { AgentTool, ToolCall, ToolContext, ToolOutcome } from "./toolset.ts";

interface ToolDefinition<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** When to use it and why, in words for a model. */
  readonly description: string;
  /** Each field has a description of its own. */
  readonly input: S;
  readonly hints: AgentTool["hints"];
  readonly polling?: boolean;
  /** A text alone is an outcome that went well. */
  readonly run: (
    input: z.output<S>,
    context: ToolContext,
  ) => ToolOutcome | string | Promise<ToolOutcome | string>;
}

/** A tool that can be called with anything. */
export interface DefinedTool {
  readonly tool: AgentTool;
  call(call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
}

export const reads: AgentTool["hints"] = { read_only: true, destructive: false };
/** Changes something, and nothing is lost by it. */
export const adds: AgentTool["hints"] = { read_only: false, destructive: false };
export const acts: AgentTool["hints"] = { read_only: false, destructive: true };

/** What is wrong with an input, what is refused and what was interrupted are answers; only bugs are thrown. */
export function defineTool<S extends z.ZodType>(definition: ToolDefinition<S>): DefinedTool {
  const { name, description, input, hints, polling, run } = definition;
  return {
    tool: {
      name,
      description,
      input_schema: describeSchema(input),
      hints,
      ...defined({ polling }),
    },
    async call(call, context) {
      try {
        context.signal.throwIfAborted();
        const outcome = await run(parseRequest(input, call.input), context);
        return bounded(typeof outcome === "string" ? { output: outcome } : outcome);
      } catch (error) {
        if (error instanceof Fault) return describeFault(error);
        if (context.signal.aborted) return interrupted();
        throw error;
      }
    },
  };
}

export function failed(output: string): ToolOutcome {
  return { output, is_error: true };
}

export function interrupted(): ToolOutcome {
  return failed("interrupted: the call was stopped before it had ended");
}

function describeFault(error: unknown): ToolOutcome {
  const { code, message } = asFault(error);
  return bounded(failed(`${code}: ${message}`));
}

function describeSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: "input" });
  return described;
}

/** Each tool keeps to less; this is for the one that has forgotten to. */
function bounded(outcome: ToolOutcome): ToolOutcome {
  const output = cutText(outcome.output, limits.tool_result_bytes);
  return output === outcome.output ? outcome : { ...outcome, output };
}

/** The beginning of a text in so many bytes, with a marker when something is missing. No character is split. */
export function cutText(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const marker = `\n[cut: the whole text has ${Buffer.byteLength(text)} bytes]`;
  const room = new Uint8Array(Math.max(0, bytes - marker.length));
  const { read } = new TextEncoder().encodeInto(text, room);
  return text.slice(0, read) + marker;
}
