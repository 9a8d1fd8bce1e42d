import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { createGlob, escapeGlob, type Glob, globMatches } from "./glob.ts";

/**
 * A pattern of tool calls:
 *
 *   tool-glob                               read_*
 *   tool-glob:argument=glob:argument=glob   execute:command=git *:workdir=/repo/*
 *
 * A `:` begins an argument only where `name=` follows, so a path and an address need no quotes. `"…"` around a value, or
 * `\:`, keep a `:name=` in it. A backslash stands for itself but before `"` and `:`, where two are one.
 */
export interface Pattern {
  readonly text: string;
  readonly tool: Glob;
  readonly args: readonly ArgumentPattern[];
}

export interface ArgumentPattern {
  /** Lower case. */
  readonly name: string;
  readonly glob: Glob;
}

export interface Call {
  readonly tool: string;
  /** Undefined = what the model sent is no object. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
}

const ARGUMENT = /:([A-Za-z_][\w-]*)=/y;
/** What no tool's name has: whoever writes it means something else. */
const NOT_IN_TOOL = /[\s()[\]{}=,;:|&]/;
const PLAIN_TOOL = /^[\w./-]+$/;

/** A pattern that means nothing is an error, because one that never matches would deny nothing. */
export function parsePattern(text: string): Pattern {
  if (text.length > limits.permission_chars) {
    throw broken(text, limits.permission_chars, "it is too long");
  }
  const tool = readValue(text, 0, "tool");
  const args: ArgumentPattern[] = [];
  let at = tool.end;
  while (at < text.length) {
    const name = argumentAt(text, at) ?? "";
    const value = readValue(text, at + name.length + 2, "argument");
    args.push({ name: name.toLowerCase(), glob: createGlob(value.value) });
    at = value.end;
  }
  return { text, tool: createGlob(tool.value), args };
}

/** The pattern of exactly this tool. */
export function formatToolPattern(tool: string): string {
  return PLAIN_TOOL.test(tool) ? tool : quote(escapeGlob(tool));
}

/** Every argument that is named must be there and match. */
export function matches(pattern: Pattern, call: Call): boolean {
  return (
    globMatches(pattern.tool, call.tool) &&
    pattern.args.every((arg) => argumentMatches(arg, call, "every"))
  );
}

/**
 * Names that differ only in case are the same to us, but which one the tool will look at we do not know: to allow,
 * every one must match, to deny, one is enough.
 */
export function argumentMatches(
  arg: ArgumentPattern,
  call: Call,
  quantity: "every" | "some",
): boolean {
  const texts = listArgument(call, arg.name);
  return texts.length > 0 && texts[quantity]((text) => globMatches(arg.glob, text));
}

export function listArgument(call: Call, name: string): readonly string[] {
  return Object.entries(call.input ?? {})
    .filter(([key]) => key.toLowerCase() === name)
    .map(([, value]) => (typeof value === "string" ? value : JSON.stringify(value)))
    .filter((text) => text !== undefined);
}

interface Value {
  readonly value: string;
  readonly end: number;
}

function readValue(text: string, start: number, kind: "tool" | "argument"): Value {
  const isQuoted = text[start] === '"';
  const read = isQuoted ? readQuoted(text, start) : readBare(text, start);
  if (kind === "tool" && !isQuoted) checkTool(text, read.end);
  if (read.value !== "" || (kind === "argument" && isQuoted)) return read;
  const what = kind === "tool" ? "a tool" : 'a value; for an empty one write ""';
  throw broken(text, start, `there must be ${what}`);
}

function checkTool(text: string, end: number): void {
  const at = text.slice(0, end).search(NOT_IN_TOOL);
  if (at === -1) return;
  throw broken(
    text,
    at,
    `a tool's name has no "${text[at]}"; arguments are written as tool:argument=value, such as execute:command=git *`,
  );
}

function readBare(text: string, start: number): Value {
  let value = "";
  let at = start;
  while (at < text.length && argumentAt(text, at) === undefined) {
    const run = backslashes(text, at);
    const next = text[at + run];
    if (run === 0 || (next !== ":" && next !== '"')) {
      value += text.slice(at, at + Math.max(run, 1));
      at += Math.max(run, 1);
      continue;
    }
    value += "\\".repeat(Math.floor(run / 2));
    at += run;
    if (run % 2 === 0) continue;
    value += next;
    at += 1;
  }
  return { value, end: at };
}

function readQuoted(text: string, start: number): Value {
  let value = "";
  let at = start + 1;
  while (at < text.length) {
    const run = backslashes(text, at);
    if (text[at + run] !== '"') {
      value += text.slice(at, at + Math.max(run, 1));
      at += Math.max(run, 1);
      continue;
    }
    value += "\\".repeat(Math.floor(run / 2));
    at += run + 1;
    if (run % 2 === 0) return { value, end: checkClosed(text, at) };
    value += '"';
  }
  throw broken(text, start, 'the quote is not closed; a \\ before the last " is written twice');
}

function checkClosed(text: string, at: number): number {
  if (at === text.length || argumentAt(text, at) !== undefined) return at;
  throw broken(
    text,
    at,
    'after the closing quote only :argument= may follow; a quote that belongs to the value is written \\"',
  );
}

function argumentAt(text: string, at: number): string | undefined {
  ARGUMENT.lastIndex = at;
  return ARGUMENT.exec(text)?.[1];
}

function backslashes(text: string, at: number): number {
  let count = 0;
  while (text[at + count] === "\\") count += 1;
  return count;
}

function quote(value: string): string {
  return `"${value.replaceAll(/(\\*)("|$)/g, (_, run: string, end: string) => run + run + (end && `\\${end}`))}"`;
}

function broken(text: string, position: number, why: string): Fault {
  return new Fault(
    "invalid_request",
    `the permission pattern ${JSON.stringify(text.slice(0, 200))} is wrong at character ${position + 1}: ${why}`,
    { details: { pattern: text.slice(0, limits.permission_chars), position } },
  );
}
