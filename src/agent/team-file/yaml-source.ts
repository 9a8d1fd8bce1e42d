import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import {
  createTeamFault,
  type Finding,
  type Path,
  type Problem,
  writePath,
} from "./team-problem.ts";

/** Aliases count as often as they are used, so that a small file cannot stand for a huge one. */
const NODES = 20_000;
const NESTING = 64;
/** More than any file of so many values has; to build a document takes ten times as long as to count. */
const TOKENS = 100_000;
const TOO_MUCH = `the file has more than ${NODES} values or ${NESTING} levels`;

/** A YAML text as plain values, and where each of them stands in the text. */
interface YamlSource {
  readonly value: unknown;
  locate(finding: Finding): Problem;
}

/** What is no YAML, or more than plain YAML, is a Fault `team_invalid`. */
export function parseYaml(file: string, text: string): YamlSource {
  if (text.length > limits.team_chars) {
    const message = `the file has ${text.length} characters; ${limits.team_chars} are allowed`;
    throw createTeamFault(file, [{ line: 1, column: 1, path: "", message }]);
  }
  if (hasTooManyTokens(text))
    throw createTeamFault(file, [{ line: 1, column: 1, path: "", message: TOO_MUCH }]);
  const lines = new LineCounter();
  const document = readDocument(file, text, lines);
  const reader = new ValueReader(lines);
  const broken = document.errors.map((error) =>
    reader.describe(error.pos[0], { path: [], message: sentence(error.message) }),
  );
  if (broken.length > 0) throw createTeamFault(file, broken);
  const value = reader.read(document.contents, []);
  if (reader.problems.length > 0) throw createTeamFault(file, reader.problems);
  return { value, locate: (finding) => reader.locate(document.contents, finding) };
}

function hasTooManyTokens(text: string): boolean {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > TOKENS) return true;
  }
  return false;
}

/** Keys are compared by the reader: the parser's own way takes time in the square of their number. */
function readDocument(file: string, text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false });
  } catch (error) {
    // The parser walks down by recursion, and a text can be deeper than the stack.
    const why = error instanceof RangeError ? "it is nested too deeply" : String(error);
    throw createTeamFault(file, [
      { line: 1, column: 1, path: "", message: `the file cannot be read: ${why}` },
    ]);
  }
}

/** The parser's names of signs are not everybody's. */
const signs: Readonly<Record<string, string>> = {
  "flow-map-start": "`{`",
  "flow-map-end": "`}`",
  "flow-seq-start": "`[`",
  "flow-seq-end": "`]`",
  "map-value-ind": "`:`",
  "seq-item-ind": "`-`",
};

function sentence(message: string): string {
  const text = message
    .replace("; please use YAML.parseAllDocuments()", "; one is read")
    .replaceAll(/\b(?:flow|map|seq)-[a-z]+-[a-z]+\b/g, (sign) => signs[sign] ?? sign);
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

interface Step {
  /** Undefined in a list. */
  readonly key: Node | undefined;
  readonly value: Node | null;
}

class ValueReader {
  readonly problems: Problem[] = [];
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Node>();
  readonly #targets = new Map<Node, Node>();
  #nodes = 0;
  #isFull = false;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  /** The plain value. Problems are collected, and what has one is null. */
  read(node: Node | null, path: Path): unknown {
    if (node === null) return null;
    if (this.#isFull) return null;
    this.#nodes += 1;
    this.#isFull = this.#nodes > NODES || path.length > NESTING;
    if (this.#isFull) return this.#refuse(node, [], TOO_MUCH);
    if (node.tag !== undefined) return this.#refuse(node, path, "tags (`!…`) are not supported");
    if (isAlias(node)) return this.#readAlias(node, path);
    const value = this.#readContent(node, path);
    // Only now: what is inside of a thing cannot stand for the whole of it.
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    return value;
  }

  /** What is missing is said at the name of what it is missing in. */
  locate(root: Node | null, finding: Finding): Problem {
    let found: Step = { key: undefined, value: root };
    let isThere = true;
    for (const step of finding.path) {
      const next = this.#stepInto(found.value, step);
      isThere = next !== undefined;
      if (next === undefined) break;
      found = next;
    }
    const atKey = !isThere || finding.at_key === true || isEmpty(found.value);
    const node = (atKey ? found.key : undefined) ?? found.value;
    return this.describe(node?.range?.[0] ?? 0, finding);
  }

  describe(offset: number, { path, message, suggestion }: Finding): Problem {
    const { line, col } = this.#lines.linePos(offset);
    const place = { line: Math.max(1, line), column: Math.max(1, col), path: writePath(path) };
    return { ...place, message, ...defined({ suggestion }) };
  }

  #readAlias(node: Alias, path: Path): unknown {
    const name = node.source;
    const target = this.#anchors.get(name);
    if (target === undefined)
      return this.#refuse(node, path, `the alias \`*${name}\` names nothing that stands before it`);
    this.#targets.set(node, target);
    return this.#readContent(target, path);
  }

  #readContent(node: Node, path: Path): unknown {
    if (isMap(node)) return this.#readMap(node, path);
    if (isSeq(node))
      return node.items.map((item, index) => this.read(asNode(item), [...path, index]));
    const value = isScalar(node) ? node.value : undefined;
    if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
    return this.#refuse(node, path, "the value must be text, a number, true, false or null");
  }

  #readMap(map: YAMLMap, path: Path): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const pair of map.items) {
      const key = keyOf(pair);
      const node = asNode(pair.key) ?? map;
      const problem = key === undefined ? "a key must be plain text" : keyProblem(key, values);
      if (key === undefined || problem !== undefined) {
        this.#refuse(node, key === undefined ? path : [...path, key], problem ?? "");
        continue;
      }
      values[key] = this.read(asNode(pair.value), [...path, key]);
    }
    return values;
  }

  #stepInto(node: Node | null, step: string | number): Step | undefined {
    const held = this.#follow(node);
    if (isMap(held)) {
      const pair = held.items.find((item) => keyOf(item) === String(step));
      if (pair === undefined) return undefined;
      return { key: asNode(pair.key) ?? undefined, value: asNode(pair.value) };
    }
    if (!isSeq(held) || typeof step !== "number" || step >= held.items.length) return undefined;
    return { key: undefined, value: asNode(held.items[step]) };
  }

  #follow(node: Node | null): Node | null {
    return node === null ? null : (this.#targets.get(node) ?? node);
  }

  #refuse(node: Node, path: Path, message: string): null {
    this.problems.push(this.describe(node.range?.[0] ?? 0, { path, message }));
    return null;
  }
}

function keyProblem(key: string, values: Readonly<Record<string, unknown>>): string | undefined {
  if (key === "<<") return "merge keys (`<<`) are not supported; write the keys out";
  if (key === "__proto__") return "the key `__proto__` is not allowed";
  if (Object.hasOwn(values, key)) return `the key \`${key}\` is there twice`;
  return undefined;
}

/** Undefined for a key that is a list, a map, an alias or nothing. */
function keyOf(pair: Pair): string | undefined {
  const { key } = pair;
  if (!isScalar(key) || key.tag !== undefined || key.value === null) return undefined;
  return String(key.source ?? key.value);
}

function asNode(value: unknown): Node | null {
  return isScalar(value) || isCollection(value) || isAlias(value) ? value : null;
}

/** `key:` with nothing behind it. */
function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.range?.[0] === node.range?.[1]);
}
