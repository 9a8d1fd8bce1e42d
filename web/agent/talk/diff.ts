export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

/** Cells of the table that the diff is read from; beyond it everything old goes and everything new comes. */
const CELLS_MOST = 1_000_000;

/** What has to go and to come, line by line, to make the one of the other. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, made] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < made.length && old[head] === made[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, made.length) - head;
  while (tail < most && old.at(-1 - tail) === made.at(-1 - tail)) tail += 1;
  const same = (text: string): DiffLine => ({ sign: " ", text });
  return [
    ...old.slice(0, head).map(same),
    ...diffMiddle(old.slice(head, old.length - tail), made.slice(head, made.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ];
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  // The end of the last line is no line.
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function diffMiddle(old: readonly string[], made: readonly string[]): readonly DiffLine[] {
  const gone = (text: string): DiffLine => ({ sign: "-", text });
  const come = (text: string): DiffLine => ({ sign: "+", text });
  if (old.length * made.length > CELLS_MOST) return [...old.map(gone), ...made.map(come)];
  const lengths = commonLengths(old, made);
  const width = made.length + 1;
  const lines: DiffLine[] = [];
  let [from, to] = [0, 0];
  while (from < old.length && to < made.length) {
    const [left, right] = [old[from] ?? "", made[to] ?? ""];
    const [below, beside] = [lengths[(from + 1) * width + to], lengths[from * width + to + 1]];
    if (left === right) {
      lines.push({ sign: " ", text: left });
      from += 1;
      to += 1;
    } else if ((below ?? 0) >= (beside ?? 0)) {
      lines.push(gone(left));
      from += 1;
    } else {
      lines.push(come(right));
      to += 1;
    }
  }
  return [...lines, ...old.slice(from).map(gone), ...made.slice(to).map(come)];
}

/** How many lines the two have in common from each pair of places on. */
function commonLengths(old: readonly string[], made: readonly string[]): Uint32Array {
  const width = made.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let from = old.length - 1; from >= 0; from -= 1)
    for (let to = made.length - 1; to >= 0; to -= 1)
      lengths[from * width + to] =
        old[from] === made[to]
          ? (lengths[(from + 1) * width + to + 1] ?? 0) + 1
          : Math.max(lengths[(from + 1) * width + to] ?? 0, lengths[from * width + to + 1] ?? 0);
  return lengths;
}

interface FileChange {
  readonly path: string;
  readonly lines: readonly DiffLine[];
}

/** What a call does to a file, as far as its input tells; undefined for every other call. */
export function changesOf(tool: string, input: unknown): readonly FileChange[] | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const { path, content, edits } = input as Record<string, unknown>;
  if (typeof path !== "string") return undefined;
  if (tool === "write_file" && typeof content === "string")
    return [{ path, lines: diffLines("", content) }];
  if (tool !== "edit_file" || !Array.isArray(edits)) return undefined;
  const changes = edits.map((edit: unknown) => changeOf(path, edit));
  return changes.every((change) => change !== undefined) ? changes : undefined;
}

function changeOf(path: string, edit: unknown): FileChange | undefined {
  if (typeof edit !== "object" || edit === null) return undefined;
  const { old, new: made } = edit as Record<string, unknown>;
  if (typeof old !== "string" || typeof made !== "string") return undefined;
  return { path, lines: diffLines(old, made) };
}
