import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { formatToolPattern, matches, parsePattern } from "./pattern.ts";

type Input = Readonly<Record<string, unknown>>;

const path = (text: unknown): Input => ({ path: text });
const command = (text: unknown): Input => ({ command: text });

const matching: readonly (readonly [pattern: string, tool: string, input: Input])[] = [
  ["read_file", "read_file", {}],
  ["READ_file", "read_FILE", {}],
  ["*", "anything", {}],
  ["read_*", "read_file", {}],
  ["read_*", "read_", {}],
  ["*_file", "write_file", {}],
  ["r?ad_file", "read_file", {}],
  ["**", "x", {}],
  ['"odd:name=x"', "odd:name=x", {}],
  ["github/*", "github/create_issue", {}],
  ["read_file:path=/etc/*", "read_file", path("/etc/passwd")],
  ["read_file:path=/etc/*", "read_file", path("/etc/ssh/keys/a b")],
  ["read_file:path=/ETC/*", "read_file", path("/etc/PASSWD")],
  ["read_file:PATH=/etc/*", "read_file", path("/etc/x")],
  ["read_file:path=*", "read_file", path("")],
  ["read_file:path=*.md", "read_file", path("a\nb.md")],
  ["read_file:path=a?c", "read_file", path("a/c")],
  ["read_file:path=a?c", "read_file", path("a😀c")],
  ['read_file:path=""', "read_file", path("")],
  ['read_file:path="/a b/*"', "read_file", path("/a b/c")],
  ["read_file:path=/a b/*", "read_file", path("/a b/c")],
  ["read_file:path=C:\\Users\\me\\x.txt", "read_file", path("C:\\Users\\me\\x.txt")],
  ["read_file:path=C:\\Users\\*", "read_file", path("c:\\users\\me\\x.txt")],
  ['read_file:path="C:\\Users\\*"', "read_file", path("C:\\Users\\me")],
  ['read_file:path="C:\\Users\\\\"', "read_file", path("C:\\Users\\")],
  ["read_file:path=\\\\server\\share\\*", "read_file", path("\\\\server\\share\\a")],
  ['read_file:path="\\\\server\\share\\*"', "read_file", path("\\\\server\\share\\a")],
  ["read_file:path=C:\\dir\\\\:mode=r", "read_file", { path: "C:\\dir\\", mode: "r" }],
  ["fetch:url=https://example.com:8080/*", "fetch", { url: "https://example.com:8080/a?b=c" }],
  ["fetch:url=https://*.example.com/*", "fetch", { url: "https://a.example.com/x" }],
  ["fetch:url=http://[::1]:80/*", "fetch", { url: "http://[::1]:80/x" }],
  ['fetch:url="http://h/:id=1"', "fetch", { url: "http://h/:id=1" }],
  ["fetch:url=http://h/\\:id=1", "fetch", { url: "http://h/:id=1" }],
  ["fetch:url=a\\\\\\:id=1", "fetch", { url: "a\\:id=1" }],
  ["fetch:url=a:1:2::3", "fetch", { url: "a:1:2::3" }],
  ["fetch:url=a\\:b", "fetch", { url: "a:b" }],
  ["fetch:url=*:method=GET", "fetch", { url: "http://x", method: "get" }],
  ['fetch:url="http://x":method=GET', "fetch", { url: "http://x", method: "GET" }],
  ['say:text="a \\"b\\" c"', "say", { text: 'a "b" c' }],
  ['say:text=a "b" c', "say", { text: 'a "b" c' }],
  ['say:text=\\"b\\"', "say", { text: '"b"' }],
  ["say:text=a=b", "say", { text: "a=b" }],
  ["say:text=100%[*]", "say", { text: "100%*" }],
  ["say:text=[?]", "say", { text: "?" }],
  ["say:text=[ab]", "say", { text: "[ab]" }],
  ["set:count=5", "set", { count: 5 }],
  ["set:on=true", "set", { on: true }],
  ["set:value=null", "set", { value: null }],
  ['set:tags="[\\"a\\",*"', "set", { tags: ["a", "b"] }],
  ["set:a=1*:a=*2", "set", { a: "1-2" }],
  ["tool:file-path=/x", "tool", { "file-path": "/x" }],
  ["think:command=git *", "think", command("git status; rm x")],
];

test.each(matching)("%s matches %s %j", (pattern, tool, input) => {
  expect(matches(parsePattern(pattern), { tool, input })).toBe(true);
});

const different: readonly (readonly [pattern: string, tool: string, input: Input | undefined])[] = [
  ["read_file", "read_files", {}],
  ["read_?", "read_", {}],
  ["read", "read_file", {}],
  ["read_file:path=/etc/*", "read_file", {}],
  ["read_file:path=*", "read_file", { path: undefined }],
  ["read_file:path=*", "read_file", undefined],
  ["read_file:path=/etc/*", "read_file", path("/home/etc/x")],
  ["read_file:path=/etc/*", "write_file", path("/etc/x")],
  ["read_file:path=/etc/*", "read_file", { path: "/etc/x", Path: "/home/x" }],
  ["read_file:toString=*", "read_file", {}],
  ["fetch:url=*:method=GET", "fetch", { url: "http://x" }],
  ["fetch:url=*:method=GET", "fetch", { url: "http://x", method: "POST" }],
  ["say:text=[*]", "say", { text: "anything" }],
  ["say:text=a.c", "say", { text: "abc" }],
  ["set:count=5", "set", { count: 50 }],
  ['read_file:path="C:\\dir\\\\"', "read_file", path("C:\\dir\\\\")],
];

test.each(different)("%s does not match %s %j", (pattern, tool, input) => {
  expect(matches(parsePattern(pattern), { tool, input })).toBe(false);
});

const wrong: readonly (readonly [pattern: string, position: number, says: string])[] = [
  ["", 0, "there must be a tool"],
  [":path=x", 0, "there must be a tool"],
  ['""', 0, "there must be a tool"],
  ["execute:git *", 7, "tool:argument=value"],
  ["execute(git *)", 7, "tool:argument=value"],
  ["git status", 3, "tool:argument=value"],
  ["execute:", 7, "tool:argument=value"],
  ["execute:=x", 7, "tool:argument=value"],
  ["execute=x", 7, "tool:argument=value"],
  ["{a,b}", 0, "tool:argument=value"],
  ["read_file:path=", 15, 'write ""'],
  ["read_file:path=:mode=r", 15, 'write ""'],
  ['read_file:path="/a', 15, "not closed"],
  ['read_file:path="C:\\dir\\"', 15, "written twice"],
  ['execute:command="my tool" *', 25, "after the closing quote"],
  [`read_file:path=${"x".repeat(1000)}`, 1000, "too long"],
];

test.each(wrong)("%s is refused, and the fault says where and why", (text, position, says) => {
  const parse = () => parsePattern(text);
  expect(parse).toThrow(Fault);
  expect(parse).toThrow(says);
  expect(parse).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      details: expect.objectContaining({ position }),
    }),
  );
});

test("any text either parses or is a fault", () => {
  const text = fc.string({ unit: fc.constantFrom(...'ab:=*?\\" /.-_[') });
  fc.assert(
    fc.property(text, (pattern) => {
      try {
        parsePattern(pattern);
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
      }
    }),
    { numRuns: 1000 },
  );
});

test("the case of pattern and call does not matter", () => {
  const text = fc.string({ unit: fc.constantFrom(..."aAbB/ *?"), minLength: 1 });
  fc.assert(
    fc.property(text, text, (glob, value) => {
      const answers = [glob, glob.toUpperCase(), glob.toLowerCase()].flatMap((each) => {
        const pattern = parsePattern(`t:x="${each}"`);
        return [value, value.toUpperCase(), value.toLowerCase()].map((x) =>
          matches(pattern, { tool: "t", input: { x } }),
        );
      });
      expect(new Set(answers).size).toBe(1);
    }),
  );
});

test("the pattern of a tool matches that tool alone", () => {
  const name = fc.string({ unit: fc.constantFrom(...'ab*?[]:=\\" x'), minLength: 1 });
  fc.assert(
    fc.property(name, name, (tool, other) => {
      const pattern = parsePattern(formatToolPattern(tool));
      expect(matches(pattern, { tool, input: {} })).toBe(true);
      expect(matches(pattern, { tool: other, input: {} })).toBe(tool === other);
    }),
    { numRuns: 1000 },
  );
});

test("a pattern full of wildcards is matched against a long text", () => {
  const pattern = parsePattern(`t:x=${"*a".repeat(400)}b`);
  expect(matches(pattern, { tool: "t", input: { x: "a".repeat(20_000) } })).toBe(false);
});
