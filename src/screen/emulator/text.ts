import { limits } from "#contract/limits.ts";
import type { ScreenText } from "#contract/operations/screen.ts";
import type { Emulator } from "./emulator.ts";
import { type CoreLine, cellAt } from "./emulator-core.ts";
import { printable } from "./printable.ts";

type RenderedText = Pick<ScreenText, "cursor" | "title" | "alternate" | "lines" | "modes">;

/** What stands on the screen, without the scrollback. */
export function renderText(emulator: Emulator): RenderedText {
  const { core, size } = emulator;
  const { active, alt } = core._bufferService.buffers;
  return {
    lines: Array.from({ length: size.rows }, (_, row) => {
      const line = active.lines.get(active.ybase + row);
      return line === undefined ? "" : renderLine(line, size.cols);
    }),
    cursor: {
      row: active.y,
      // Behind the margin it is still shown on the last cell.
      col: Math.min(active.x, size.cols - 1),
      visible: !core.coreService.isCursorHidden,
    },
    title: printable(core._inputHandler._windowTitle).slice(0, limits.title_chars),
    alternate: active === alt,
    modes: {
      application_cursor: core.coreService.decPrivateModes.applicationCursorKeys,
      bracketed_paste: core.coreService.decPrivateModes.bracketedPasteMode,
    },
  };
}

function renderLine(line: CoreLine, cols: number): string {
  let text = "";
  let column = 0;
  while (column < cols) {
    const { chars, width } = cellAt(line, column);
    text += chars === "" ? " " : chars;
    // The second half of a wide character is a cell of its own; one that has lost its first half counts as blank.
    column += Math.max(width, 1);
  }
  return printable(text).replace(/ +$/, "");
}
