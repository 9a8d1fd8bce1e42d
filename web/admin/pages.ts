export interface Page<T> {
  readonly rows: readonly T[];
  readonly cursor: string | null;
}

export interface Pages<T> {
  readonly rows: readonly T[];
  /** Where the next page begins, if there is one. */
  readonly cursor: string | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  /** There are more, but the page keeps no more than these. */
  readonly isFull: boolean;
}

/** A person who looks for something older asks more closely. */
export const ROWS_KEPT = 2000;

// It has no row, so it is the beginning of a list of anything.
export const NO_PAGES: Pages<never> = {
  rows: [],
  cursor: undefined,
  error: undefined,
  isBusy: true,
  isFull: false,
};

/** `asked`: the cursor that the page was asked by; without one it is the first, and takes the place of all. */
export function addPage<T>(before: Pages<T>, page: Page<T>, asked: string | undefined): Pages<T> {
  const all = asked === undefined ? page.rows : [...before.rows, ...page.rows];
  const isFull = page.cursor !== null && all.length >= ROWS_KEPT;
  return {
    rows: all.slice(0, ROWS_KEPT),
    cursor: isFull ? undefined : (page.cursor ?? undefined),
    error: undefined,
    isBusy: false,
    isFull,
  };
}

/** A first page that failed leaves nothing of the question before; a later one leaves what is there. */
export function fail<T>(before: Pages<T>, error: unknown, asked: string | undefined): Pages<T> {
  if (asked === undefined) return { ...NO_PAGES, error, isBusy: false };
  return { ...before, error, isBusy: false };
}
