/** Rows that are drawn beyond each edge, so that scrolling shows no gaps before the next drawing. */
const OVERSCAN_ROWS = 6;

export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly rowCount: number;
}

/** Rows from `first` up to `end`, which is not one of them. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** Those that are to be seen, at least in part. */
export function findVisible({ scrollTop, height, rowHeight, rowCount }: Viewport): RowRange {
  const top = clamp(scrollTop, 0, Math.max(0, rowCount * rowHeight - height));
  const first = Math.min(rowCount, Math.floor(top / rowHeight));
  const end = Math.min(rowCount, Math.ceil((top + Math.max(0, height)) / rowHeight));
  return { first, end: Math.max(first, end) };
}

/** Those that are drawn. */
export function findDrawn(viewport: Viewport): RowRange {
  const { first, end } = findVisible(viewport);
  return {
    first: Math.max(0, first - OVERSCAN_ROWS),
    end: Math.min(viewport.rowCount, end + OVERSCAN_ROWS),
  };
}

/** Those that are drawn, in their order, and one that stays drawn wherever it is: what has the focus must not go away. */
export function listDrawn({ first, end }: RowRange, kept: number): readonly number[] {
  const rows = Array.from({ length: end - first }, (_, offset) => first + offset);
  if (kept < 0 || (kept >= first && kept < end)) return rows;
  return kept < first ? [kept, ...rows] : [...rows, kept];
}

/** Where to scroll so that the whole row is seen, with as little movement as can be. */
export function scrollToShow(viewport: Viewport, row: number): number {
  const { scrollTop, height, rowHeight } = viewport;
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return Math.max(0, top + rowHeight - height);
  return scrollTop;
}

const STEPS: Readonly<Record<string, (page: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => Number.NEGATIVE_INFINITY,
  End: () => Number.POSITIVE_INFINITY,
};

/** The row that a key leads to, or undefined for a key that leads nowhere. */
export function moveRow(key: string, row: number, { height, rowHeight, rowCount }: Viewport) {
  const step = Object.hasOwn(STEPS, key) ? STEPS[key] : undefined;
  if (step === undefined || rowCount === 0) return undefined;
  const page = Math.max(1, Math.floor(height / rowHeight) - 1);
  // From nowhere the first key leads to the row where the list begins.
  if (row < 0) return key === "End" ? rowCount - 1 : 0;
  return clamp(row + step(page), 0, rowCount - 1);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
