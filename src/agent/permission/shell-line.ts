import type { Command, Redirection, SyntaxNode } from "unbash";
import { visitBash } from "#base/bash-nodes.ts";
import { UNKNOWN } from "./glob.ts";
import { findHidden } from "./hidden-commands.ts";
import {
  isUnknown,
  join,
  readArgument,
  readAssignment,
  readParts,
  readWord,
  type ShellText,
} from "./shell-text.ts";

/** What a command line would run, as far as one can tell by reading it. */
export interface ShellLine {
  /**
   * Each simple command without its quotes, those of substitutions, groups, functions and `sh -c` included; also each
   * redirection that writes, as `> file`, and each here-document, as `<< text`.
   */
  readonly parts: readonly ShellText[];
  /** What the parts might come down to besides: `rm x` of `sudo /bin/rm x`. Enough to deny, not to allow. */
  readonly shadows: readonly ShellText[];
  /** Something runs that cannot be read here: `$X`, `eval "$X"`, a shell that reads its input. */
  readonly isOpaque: boolean;
  /** It does not parse, or is too long to; `parts` say nothing. */
  readonly isBroken: boolean;
}

/** Far above what a model writes as one command. */
const MAX_CHARS = 64 * 1024;
const MAX_TEXTS = 2000;
/** `sh -c` in `sh -c` in … */
const MAX_DEPTH = 6;
/** Shells do not agree on what these are. */
const STRANGE = /[\0-\x08\x0b-\x1f\x7f]/;
const HARMLESS_TARGETS = ["/dev/null", "/dev/stdout", "/dev/stderr"];

const BROKEN: ShellLine = { parts: [], shadows: [], isOpaque: true, isBroken: true };

export function readShellLine(line: string): ShellLine {
  const reading: Reading = { parts: [], shadows: [], isOpaque: false };
  try {
    if (!readScript(line, reading, { depth: 0, role: "part" })) return BROKEN;
  } catch (error) {
    if (error instanceof RangeError) return BROKEN;
    throw error;
  }
  return { ...reading, isBroken: false };
}

interface Reading {
  readonly parts: ShellText[];
  readonly shadows: ShellText[];
  isOpaque: boolean;
}

interface Place {
  readonly depth: number;
  readonly role: "part" | "shadow";
}

/** False when it does not parse at any depth. */
function readScript(script: string, reading: Reading, place: Place): boolean {
  if (script.length > MAX_CHARS || STRANGE.test(script)) return false;
  const read = visitBash(script, (node, source) => {
    if (reading.parts.length + reading.shadows.length > MAX_TEXTS) return "stop";
    readNode(node, reading, { ...place, source });
    return "enter";
  });
  return read !== undefined;
}

function readNode(
  node: SyntaxNode,
  reading: Reading,
  place: Place & { readonly source: string },
): void {
  const found = place.role === "part" ? reading.parts : reading.shadows;
  switch (node.type) {
    case "Command":
      readCommand(node, reading, place);
      return;
    case "Redirect":
    case "HereDoc":
    case "HereString":
      found.push(...readRedirection(node));
      return;
    // Neither runs a program, but both can do more than they seem to: an index may hold a command.
    case "TestCommand":
    case "ArithmeticCommand": {
      const written = place.source.slice(node.pos, node.end);
      found.push({ seen: written, written });
      return;
    }
    // `${x@P}` runs the substitutions that are in the value of x.
    case "ParameterExpansion":
      if (node.operation?.type === "Transform") reading.isOpaque = true;
      return;
    case "CommandExpansion":
    case "ProcessSubstitution":
      if (node.script === undefined) reading.isOpaque = true;
      return;
  }
}

function readCommand(command: Command, reading: Reading, place: Place): void {
  const assignments = command.prefix.filter((node) => node.type === "Assignment");
  const words = [
    ...(command.name === undefined ? [] : [readWord(command.name)]),
    ...command.args.map(readArgument),
  ];
  const whole = join([...assignments.map(readAssignment), ...words]);
  // Only redirections: they stand for themselves.
  if (whole.written === "" && command.name === undefined) return;
  (place.role === "part" ? reading.parts : reading.shadows).push(whole);
  if (assignments.length > 0 && words.length > 0) reading.shadows.push(join(words));
  const hidden = findHidden(words, command.redirects.flatMap(readInput));
  reading.shadows.push(...hidden.shadows);
  if (hidden.isOpaque) reading.isOpaque = true;
  for (const script of hidden.scripts) readInner(script.text, reading, { ...place, ...script });
}

function readInner(
  script: ShellText,
  reading: Reading,
  { depth, role, isShadow }: Place & { readonly isShadow: boolean },
): void {
  const inner: Place = { depth: depth + 1, role: isShadow ? "shadow" : role };
  const isRead = depth < MAX_DEPTH && !isUnknown(script) && readScript(script.seen, reading, inner);
  if (isRead) return;
  reading.isOpaque = true;
  reading.shadows.push(script);
}

function readRedirection(node: Redirection): ShellText[] {
  if (node.type === "HereDoc") {
    const { parts, text } = node.body;
    return [{ seen: `<< ${parts === undefined ? text : readParts(parts)}`, written: `<< ${text}` }];
  }
  const target = node.target === undefined ? { seen: UNKNOWN, written: "" } : readWord(node.target);
  const withSign = (sign: string): ShellText[] => [
    { seen: `${sign} ${target.seen}`, written: `${sign} ${target.written}` },
  ];
  if (node.type === "HereString") return withSign("<<<");
  if (node.operator === "<&" || HARMLESS_TARGETS.includes(target.seen)) return [];
  if (node.operator === ">&" && /^(?:\d+-?|-)$/.test(target.seen)) return [];
  // The shell itself connects to these.
  if (node.operator === "<") return /^\/dev\/(tcp|udp)\//.test(target.seen) ? withSign("<") : [];
  return withSign(">");
}

/** What a command gets to read, where the line says so. */
function readInput(node: Redirection): ShellText[] {
  if (node.type === "Redirect") return [];
  if (node.type === "HereString") return node.target === undefined ? [] : [readWord(node.target)];
  const { parts, text } = node.body;
  return [{ seen: parts === undefined ? text : readParts(parts), written: text }];
}
