import { expect, test } from "vitest";
import { dependsOnModes, encodeLine, PLAIN } from "./line-parts.ts";

const AGENT = { application_cursor: false, bracketed_paste: true };
const EDITOR = { application_cursor: true, bracketed_paste: true };
const line = (text: string) => ({ text, keys: [], enter: true });
const bytesOf = (...given: Parameters<typeof encodeLine>) =>
  encodeLine(...given).map(({ bytes }) => bytes);

test("a line and its Enter are one write, unless the program knows pastes", () => {
  expect(bytesOf(line("Fix it."), PLAIN)).toEqual(["Fix it.\r"]);
  expect(bytesOf(line("Fix it."), AGENT)).toEqual(["\x1b[200~Fix it.\x1b[201~", "\r"]);
  expect(bytesOf(line("a\nb"), AGENT)).toEqual(["\x1b[200~a\rb\x1b[201~", "\r"]);
});

test("an editor gets what is typed as keys", () => {
  expect(bytesOf(line(":wq"), EDITOR)).toEqual([":wq\r"]);
});

test("a single character is a key, for a menu as well", () => {
  expect(bytesOf(line("y"), AGENT)).toEqual(["y", "\r"]);
  expect(bytesOf(line(""), AGENT)).toEqual(["\r"]);
});

test("keys come behind the text, one write each, as the cursor mode wants them", () => {
  const typed = { text: "draft", keys: ["esc", "down", "enter"], enter: false };
  expect(bytesOf(typed, PLAIN)).toEqual(["draft", "\x1b", "\x1b[B", "\r"]);
  expect(bytesOf(typed, AGENT)).toEqual(["\x1b[200~draft\x1b[201~", "\x1b", "\x1b[B", "\r"]);
  expect(bytesOf(typed, EDITOR)).toEqual(["draft", "\x1b", "\x1bOB", "\r"]);
});

test("the screen is looked at only where the modes make a difference", () => {
  const isAsked = (text: string, keys: readonly string[], enter = false) =>
    dependsOnModes((modes) => encodeLine({ text, keys, enter }, modes));
  expect(isAsked("", ["ctrl+c", "enter"])).toBe(false);
  expect(isAsked("", [], true)).toBe(false);
  expect(isAsked("", ["up"])).toBe(true);
  expect(isAsked("a text", [], true)).toBe(true);
});
