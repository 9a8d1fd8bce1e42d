import { splitSettled } from "#contract/agent/settled-blocks.ts";

/** Markdown that grows, cut into blocks that are drawn one by one. */
export interface Blocks {
  readonly text: string;
  /** Those that nothing which follows can change. */
  readonly settled: readonly string[];
  /** What may still grow. */
  readonly rest: string;
}

export const noBlocks: Blocks = { text: "", settled: [], rest: "" };

/** Reads only what is new since `before`, if the text has only grown. */
export function growBlocks(before: Blocks, text: string): Blocks {
  if (text === before.text) return before;
  const base = text.startsWith(before.text) ? before : noBlocks;
  const from = base.text.length - base.rest.length;
  const { blocks, rest } = splitSettled(text.slice(from));
  const settled = blocks.length === 0 ? base.settled : [...base.settled, ...blocks];
  return { text, settled, rest };
}
