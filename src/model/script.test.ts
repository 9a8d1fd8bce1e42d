import { expect, test } from "vitest";
import { parseScript } from "./script.ts";

const parse = (text: string) => parseScript(text, "talk.yaml");

test("a script is a list of answers", () => {
  const script = parse(`
- text: Hello
- reasoning: hm
  deltas: [a, b]
  every_ms: 20
  tool_calls:
    - { tool: read_file, input: { path: a.txt, lines: [1, 2] } }
    - { tool: list }
  usage: { input_tokens: 5, output_tokens: 6 }
- { cut: true, text: Hel }
- { error: { cause: rate_limited, status: 429, retry_after_ms: 100 }, repeat: true }
- { when: { last_user_contains: bye }, text: Bye, stop_reason: length }
`);
  expect(script).toHaveLength(5);
  expect(script[1]?.tool_calls?.[0]?.input).toEqual({ path: "a.txt", lines: [1, 2] });
});

test.each([
  ["- text: a\n- txt: b\n", 'talk.yaml:2: step 2: Unrecognized key: "txt"'],
  ["- text: a\n- text: b\n  expect:\n    last_user: x\n", "talk.yaml:4: step 2.expect: "],
  ["- text: a\n  deltas: [b]\n", "talk.yaml:1: step 1: give text or deltas"],
  ["- delay_ms: 5\n", "talk.yaml:1: step 1: says nothing"],
  ["- text: a\n  delay_ms: -5\n", "talk.yaml:2: step 1.delay_ms: "],
  ["- error: { cause: bored }\n", "talk.yaml:1: step 1.error.cause: "],
  ["- error: { cause: auth }\n  cut: true\n", "give error or cut"],
  ["- tool_calls: [{ tool: a, input: {}, raw: x }]\n", "give input or raw"],
  ["text: a\n", "talk.yaml:1: "],
  ["[]\n", "talk.yaml:1: "],
  ["", "talk.yaml: "],
  ["- text: 'a\n- b", "talk.yaml:"],
  ["- text: a\n  text: b\n", "talk.yaml:"],
  [`- text: ${"x".repeat(300_000)}`, "is longer than"],
])("what is no script is refused with its place: %#", (text, message) => {
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code: "team_invalid", message: expect.stringContaining(message) }),
  );
});

test("aliases that multiply are refused", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
  for (const [one, two] of ["ab", "bc", "cd", "de", "ef"].map((pair) => [...pair])) {
    bomb.push(`${two}: &${two} [${Array.from({ length: 10 }, () => `*${one}`).join(", ")}]`);
  }
  expect(() => parse(bomb.join("\n"))).toThrow(expect.objectContaining({ code: "team_invalid" }));
});
