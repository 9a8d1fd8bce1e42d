import type { ITheme } from "@xterm/xterm";

/** Sixteen colours that can be read on the dark ground that the terminal has in both themes. */
export const ansiColours = {
  black: "#3b342b",
  red: "#f2786b",
  green: "#93c572",
  yellow: "#e6b450",
  blue: "#79aef0",
  magenta: "#d794d4",
  cyan: "#6fc3c0",
  white: "#d8cfc1",
  brightBlack: "#9c9081",
  brightRed: "#ff9a8f",
  brightGreen: "#b2de93",
  brightYellow: "#f7cf7d",
  brightBlue: "#a3caff",
  brightMagenta: "#eab6e7",
  brightCyan: "#97dedb",
  brightWhite: "#fffaf2",
} as const satisfies Partial<ITheme>;

/** Of what a program chooses itself, black on black included. */
export const CONTRAST_LEAST = 4.5;

/** The ground and the ink are the page's own. */
export function readTheme(element: Element): ITheme {
  const style = getComputedStyle(element);
  const token = (name: string, otherwise: string) =>
    style.getPropertyValue(name).trim() || otherwise;
  const background = token("--terminal", "#1a1712");
  const foreground = token("--terminal-ink", "#ece4d8");
  return {
    ...ansiColours,
    background,
    foreground,
    cursor: "#eda163",
    cursorAccent: background,
    selectionBackground: "#6a4a2c",
    selectionForeground: "#fffaf2",
    scrollbarSliderBackground: "#ece4d838",
    scrollbarSliderHoverBackground: "#ece4d860",
    scrollbarSliderActiveBackground: "#ece4d880",
  };
}

/** In the terminal's own colours, for the search. */
export const foundColours = {
  matchBackground: "#5a4420",
  activeMatchBackground: "#9a4a1c",
  matchOverviewRuler: "#e6b450",
  activeMatchColorOverviewRuler: "#ffb27a",
} as const;
