import * as z from "zod";

const place = {
  /** Exact at this offset of the output: what follows it follows the screen. */
  offset: z.int().min(0),
  cols: z.int(),
  rows: z.int(),
  /** False when a part of the history that shaped it is no longer kept. */
  exact: z.boolean(),
};

/** For people and models: what stands on the screen. */
export const ScreenText = z.strictObject({
  ...place,
  cursor: z.strictObject({ row: z.int(), col: z.int(), visible: z.boolean() }),
  title: z.string(),
  alternate: z.boolean(),
  lines: z.array(z.string()),
  /** What the program has asked of its terminal that changes how it is to be typed to. */
  modes: z.strictObject({ application_cursor: z.boolean(), bracketed_paste: z.boolean() }),
});
export type ScreenText = z.infer<typeof ScreenText>;

/** For a terminal of this size: written to it after a reset, it shows the screen and is in all its modes. */
export const ScreenState = z.strictObject({ ...place, state: z.string() });
export type ScreenState = z.infer<typeof ScreenState>;
