import { commandOf } from "./call-words.ts";
import { changesOf, type DiffLine } from "./diff.ts";

/** One block of what a call is to do. */
export interface CallPart {
  readonly label: string;
  /** A path: the lines are a change of this file. */
  readonly path: string | undefined;
  readonly lines: readonly DiffLine[];
}

/** All of a call's input: changes of a file as their lines, a command as it is, the rest as JSON. */
export function partsOf(tool: string, input: unknown): readonly CallPart[] {
  const changes = changesOf(tool, input);
  if (changes === undefined) {
    const command = commandOf(input);
    return command === undefined ? [jsonPart("Input", input)] : [textPart("Command", command)];
  }
  const parts = changes.map(({ path, lines }) => ({ label: "Changes", path, lines }));
  const rest = restOf(tool, input as Record<string, unknown>);
  return Object.keys(rest).length === 0 ? parts : [...parts, jsonPart("Other arguments", rest)];
}

/** The arguments that the lines of a change do not show. */
function restOf(tool: string, { path: _, ...named }: Record<string, unknown>): object {
  if (tool === "write_file") {
    const { content: __, ...rest } = named;
    return rest;
  }
  const { edits, ...rest } = named;
  const flags = (edits as readonly Record<string, unknown>[]).map(
    ({ old: _old, new: _new, ...more }) => more,
  );
  return flags.every((more) => Object.keys(more).length === 0) ? rest : { ...rest, edits: flags };
}

function jsonPart(label: string, value: unknown): CallPart {
  return textPart(label, JSON.stringify(value, null, 2) ?? "");
}

function textPart(label: string, text: string): CallPart {
  return {
    ...{ label, path: undefined },
    lines: text.split("\n").map((line) => ({ sign: " ", text: line })),
  };
}
