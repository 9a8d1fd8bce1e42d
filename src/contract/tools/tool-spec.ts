import type * as z from "zod";

/** Something that a model may do. One definition for MCP, HTTP, agents and the cli. */
export interface ToolSpec {
  /** When to use it and why, in words for a model. */
  readonly description: string;
  /** Each field has a description of its own. */
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly hints: ToolHints;
}

export interface ToolHints {
  readonly read_only: boolean;
  /** May end or overwrite something. */
  readonly destructive: boolean;
  /** Doing it again with the same words changes nothing more. */
  readonly idempotent: boolean;
}

export const reads: ToolHints = { read_only: true, destructive: false, idempotent: true };
export const acts: ToolHints = { read_only: false, destructive: true, idempotent: false };
export const ends: ToolHints = { read_only: false, destructive: true, idempotent: true };
