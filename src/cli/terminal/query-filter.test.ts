import fc from "fast-check";
import { expect, test } from "vitest";
import { QueryFilter } from "./query-filter.ts";

const queries = [
  ["enquiry", "\x05"],
  ["identify", "\x1bZ"],
  ["device attributes", "\x1b[c"],
  ["device attributes with a zero", "\x1b[0c"],
  ["second device attributes", "\x1b[>c"],
  ["second device attributes with a zero", "\x1b[>0c"],
  ["third device attributes", "\x1b[=c"],
  ["status", "\x1b[5n"],
  ["cursor position", "\x1b[6n"],
  ["cursor position, extended", "\x1b[?6n"],
  ["light or dark", "\x1b[?996n"],
  ["cursor position with a control character inside", "\x1b[6\nn"],
  ["terminal parameters", "\x1b[x"],
  ["a mode", "\x1b[4$p"],
  ["a private mode", "\x1b[?2026$p"],
  ["the keyboard protocol", "\x1b[?u"],
  ["the keys' modifiers", "\x1b[?4m"],
  ["the version", "\x1b[>q"],
  ["the version with a zero", "\x1b[>0q"],
  ["a checksum", "\x1b[1;1;1;1;9;9*y"],
  ["the presentation state", "\x1b[1$w"],
  ["what pictures may be", "\x1b[?2;1;0S"],
  ["the stack of colours", "\x1b[#R"],
  ["the rendition of a rectangle", "\x1b[1;1;2;2#|"],
  ["the window's size in pixels", "\x1b[14t"],
  ["the window's size in characters", "\x1b[18t"],
  ["the window's title", "\x1b[21t"],
  ["a colour of the palette", "\x1b]4;1;?\x07"],
  ["the foreground", "\x1b]10;?\x07"],
  ["the background, ended by ST", "\x1b]11;?\x1b\\"],
  ["the clipboard", "\x1b]52;c;?\x07"],
  ["the size of a cell", "\x1b]1337;ReportCellSize\x07"],
  ["a setting", "\x1bP$qm\x1b\\"],
  ["a capability", "\x1bP+q544e\x1b\\"],
  ["a picture protocol", "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"],
] as const;

const others = [
  ["text", "c0nnect? \x07\r\n"],
  ["colours", "\x1b[31;1m"],
  ["cursor to a place", "\x1b[6;5H"],
  ["erase", "\x1b[2J"],
  ["a private mode on", "\x1b[?2026h"],
  ["modifiers off", "\x1b[>4n"],
  ["a keyboard pushed", "\x1b[>1u"],
  ["a keyboard popped", "\x1b[<u"],
  ["the cursor restored", "\x1b[u"],
  ["modifiers told apart", "\x1b[>4;2m"],
  ["the cursor's shape", "\x1b[5 q"],
  ["a window resized", "\x1b[8;24;80t"],
  ["a title pushed", "\x1b[22;0t"],
  ["scroll up", "\x1b[2S"],
  ["soft reset", "\x1b[!p"],
  ["the linux console's cursor", "\x1b[?0c"],
  ["a character repeated", "\x1b[5b"],
  ["a title", "\x1b]0;what now? ok\x07"],
  ["a colour set", "\x1b]11;#000000\x07"],
  ["the clipboard set", "\x1b]52;c;aGk=\x07"],
  ["a link with a question", "\x1b]8;;https://example.org/?q=1\x1b\\"],
  ["a picture", "\x1bPq#0;2;0;0;0~-\x1b\\"],
  ["a picture of the other protocol", "\x1b_Ga=T,f=100;AAAA\x1b\\"],
] as const;

function filter(chunks: readonly string[]): string {
  const wanted = new QueryFilter();
  const seen = chunks.map((chunk) => wanted.push(Buffer.from(chunk, "latin1")));
  return Buffer.concat([...seen, wanted.end()]).toString("latin1");
}

test.each(queries)("drops a question for %s, whole and byte by byte", (_name, query) => {
  expect(filter([`a${query}b`])).toBe("ab");
  expect(filter([..."a", ...query, "b"])).toBe("ab");
});

test.each(others)("keeps %s, whole and byte by byte", (_name, text) => {
  expect(filter([`a${text}b`])).toBe(`a${text}b`);
  expect(filter([..."a", ...text, "b"])).toBe(`a${text}b`);
});

test.each([
  ["broken off before it", "\x1b[3\x1b[6n", "\x1b[3"],
  ["a title without an end", "\x1b]0;t\x1b[6n", "\x1b]0;t"],
  ["one that the next sequence ends", "\x1b]10;?\x1b[0m", "\x1b[0m"],
])("drops a question although there is %s", (_name, text, kept) => {
  expect(filter([text])).toBe(kept);
});

test("whatever is asked between whatever else, only the questions go", () => {
  const part = fc.oneof(
    fc.constantFrom(...queries).map(([, text]) => ({ text, kept: "" })),
    fc.constantFrom(...others).map(([, text]) => ({ text, kept: text })),
  );
  const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), cuts, (parts, places) => {
      const text = parts.map((one) => one.text).join("");
      const sorted = [0, ...places.toSorted((a, b) => a - b)];
      const chunks = sorted.map((from, index) => text.slice(from, sorted[index + 1]));
      expect(filter(chunks)).toBe(parts.map((one) => one.kept).join(""));
    }),
  );
});
