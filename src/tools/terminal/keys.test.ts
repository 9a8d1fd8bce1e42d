import { expect, test } from "vitest";
import { keyNames } from "#contract/tools/terminal-tools.ts";
import { encodeKey } from "./keys.ts";

const NORMAL = { application_cursor: false };
const APPLICATION = { application_cursor: true };

test.each([
  ["enter", "\r"],
  ["Return", "\r"],
  ["\n", "\r"],
  ["tab", "\t"],
  ["shift+tab", "\x1b[Z"],
  ["escape", "\x1b"],
  ["ESC", "\x1b"],
  ["space", " "],
  ["backspace", "\x7f"],
  ["delete", "\x1b[3~"],
  ["insert", "\x1b[2~"],
  ["pageup", "\x1b[5~"],
  ["page_down", "\x1b[6~"],
  ["f1", "\x1bOP"],
  ["f4", "\x1bOS"],
  ["f5", "\x1b[15~"],
  ["f12", "\x1b[24~"],
  ["shift+f5", "\x1b[15;2~"],
  ["ctrl+f1", "\x1b[1;5P"],
  ["ctrl+c", "\x03"],
  ["Ctrl-C", "\x03"],
  ["control+Z", "\x1a"],
  ["ctrl+space", "\0"],
  ["ctrl+[", "\x1b"],
  ["ctrl+\\", "\x1c"],
  ["ctrl+_", "\x1f"],
  ["alt+x", "\x1bx"],
  ["alt+X", "\x1bX"],
  ["alt++", "\x1b+"],
  ["ctrl+alt+d", "\x1b\x04"],
  ["alt+enter", "\x1b\r"],
  ["alt+backspace", "\x1b\x7f"],
  ["shift+g", "G"],
  ["ctrl+right", "\x1b[1;5C"],
  ["shift+alt+up", "\x1b[1;4A"],
  ["q", "q"],
  ["+", "+"],
  ["ü", "ü"],
])("%j is typed as %j", (key, bytes) => {
  expect(encodeKey(key, NORMAL)).toBe(bytes);
});

test.each([
  ["up", "\x1b[A", "\x1bOA"],
  ["down", "\x1b[B", "\x1bOB"],
  ["right", "\x1b[C", "\x1bOC"],
  ["left", "\x1b[D", "\x1bOD"],
  ["home", "\x1b[H", "\x1bOH"],
  ["end", "\x1b[F", "\x1bOF"],
  ["ctrl+up", "\x1b[1;5A", "\x1b[1;5A"],
  ["pageup", "\x1b[5~", "\x1b[5~"],
])("%s sounds as a program has asked for", (key, normal, application) => {
  expect(encodeKey(key, NORMAL)).toBe(normal);
  expect(encodeKey(key, APPLICATION)).toBe(application);
});

test("every name that is told is a key", () => {
  for (const name of keyNames) expect(encodeKey(name, NORMAL)).not.toBe("");
});

test.each([
  "",
  "entr",
  "ctrl+",
  "ctrl+ü",
  "ctrl+1",
  "shift+1",
  "shift+enter",
  "ctrl+enter",
  "f13",
  "hello",
  "constructor",
  "ctrl+ctrl",
  "toString",
])("%j is no key", (key) => {
  const refusal = expect.objectContaining({
    code: "invalid_request",
    message: expect.stringMatching(/^keys: a terminal knows no key .*enter, tab.*ctrl\+c/),
    details: { field: "keys", key },
  });
  expect(() => encodeKey(key, NORMAL)).toThrow(refusal);
});
