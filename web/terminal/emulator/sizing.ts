import { limits } from "#contract/limits.ts";

/** Of a terminal, in cells. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** In pixels. */
interface Extent {
  readonly width: number;
  readonly height: number;
}

/** Smaller letters cannot be read: then it scrolls instead. */
const FONT_LEAST = 7;
export const FONT_MOST = 32;
const COLS_LEAST = 2;
const ROWS_LEAST = 1;
/** Letters have no finer sizes that would matter. */
const FONT_STEP = 0.5;

/** What of a size can be asked for: no less than an emulator has, no more than the server draws. */
export function clampSize({ cols, rows }: Size): Size {
  return {
    cols: clamp(Math.floor(cols), COLS_LEAST, limits.screen_cols),
    rows: clamp(Math.floor(rows), ROWS_LEAST, limits.screen_rows),
  };
}

/** How large the letters of a screen that is not ours to resize may be, to see all of it. */
export function fitFont(
  fontSize: number,
  {
    room,
    drawn,
    wanted,
  }: { readonly room: Extent; readonly drawn: Extent; readonly wanted: number },
): number {
  if (drawn.width <= 0 || drawn.height <= 0) return wanted;
  const factor = Math.min(room.width / drawn.width, room.height / drawn.height);
  const fitting = Math.floor((fontSize * factor) / FONT_STEP) * FONT_STEP;
  return clamp(fitting, Math.min(FONT_LEAST, wanted), wanted);
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
