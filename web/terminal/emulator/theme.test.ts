import { expect, test } from "vitest";
import { ansiColours, CONTRAST_LEAST } from "./theme.ts";

const GROUNDS = ["#1a1712", "#0e0c09"];

test("every colour but black can be read on the ground of either theme", () => {
  const faint = Object.entries(ansiColours)
    .filter(([name]) => name !== "black")
    .flatMap(([name, colour]) =>
      GROUNDS.map((ground) => ({ name, ratio: contrast(colour, ground) })),
    )
    .filter(({ ratio }) => ratio < CONTRAST_LEAST);
  expect(faint).toEqual([]);
});

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance(colour: string): number {
  const part = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}
