import { limits } from "#contract/limits.ts";

/** A text and a place in it. */
export interface Editor {
  readonly text: string;
  readonly cursor: number;
}

export type EditKey =
  | "left"
  | "right"
  | "home"
  | "end"
  | "backspace"
  | "delete"
  | "kill_line"
  | "kill_rest"
  | "kill_word";

export const emptyEditor: Editor = { text: "", cursor: 0 };

/** What a person sees as one character is one. */
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export function insert({ text, cursor }: Editor, added: string): Editor {
  const room = Math.max(0, limits.message_chars - text.length);
  const fits = added.replace(/\r\n?/g, "\n").slice(0, room);
  return {
    text: text.slice(0, cursor) + fits + text.slice(cursor),
    cursor: cursor + fits.length,
  };
}

export function edit(editor: Editor, key: EditKey): Editor {
  const { text, cursor } = editor;
  switch (key) {
    case "left":
      return { text, cursor: before(editor) };
    case "right":
      return { text, cursor: behind(editor) };
    case "home":
      return { text, cursor: text.slice(0, cursor).lastIndexOf("\n") + 1 };
    case "end":
      return { text, cursor: lineEnd(editor) };
    case "backspace":
      return remove(editor, before(editor), cursor);
    case "delete":
      return remove(editor, cursor, behind(editor));
    case "kill_line":
      return remove(editor, 0, cursor);
    case "kill_rest":
      return remove(editor, cursor, lineEnd(editor));
    case "kill_word":
      return remove(editor, wordStart(editor), cursor);
  }
}

/** The same place in the line above or below; undefined when there is none. */
export function moveLine({ text, cursor }: Editor, by: -1 | 1): Editor | undefined {
  const lines = text.split("\n");
  const above = text.slice(0, cursor).split("\n");
  const line = lines[above.length - 1 + by];
  if (line === undefined) return undefined;
  const column = [...segmenter.segment(above.at(-1) ?? "")].length;
  const kept = [...segmenter.segment(line)].slice(0, column);
  const start = lines
    .slice(0, above.length - 1 + by)
    .reduce((sum, { length }) => sum + length + 1, 0);
  return { text, cursor: start + kept.reduce((sum, { segment }) => sum + segment.length, 0) };
}

/** The text with the character at the cursor apart, to be drawn. */
export function splitAtCursor(editor: Editor): readonly [string, string, string] {
  const { text, cursor } = editor;
  const end = behind(editor);
  return [text.slice(0, cursor), text.slice(cursor, end), text.slice(end)];
}

function remove({ text }: Editor, from: number, to: number): Editor {
  const start = Math.max(0, from);
  return { text: text.slice(0, start) + text.slice(to), cursor: start };
}

function before({ text, cursor }: Editor): number {
  return segmenter.segment(text.slice(0, cursor)).containing(cursor - 1)?.index ?? 0;
}

function behind({ text, cursor }: Editor): number {
  const [next] = segmenter.segment(text.slice(cursor));
  return cursor + (next?.segment.length ?? 0);
}

/** Step by step: a pattern would try every place of a long text that was pasted, each to its end. */
function wordStart({ text, cursor }: Editor): number {
  let at = text.slice(0, cursor).trimEnd().length;
  while (at > 0 && !/\s/.test(text.charAt(at - 1))) at -= 1;
  return at;
}

function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}
