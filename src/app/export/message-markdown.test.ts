import fc from "fast-check";
import { Lexer, type Token, walkTokens } from "marked";
import { expect, test } from "vitest";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import { writeTranscript } from "./export-markdown.ts";
import { writeMessageText } from "./message-markdown.ts";

const AT = "2026-01-01T00:00:00Z";

const NAMES = {
  ...{ user: "user", assistant: "root", tool: "shell", summary: "summary", error: "error: x" },
} as const;

/** Pieces that mean something to Markdown, in every order. */
const piece = fc.constantFrom(
  ...["\n", "\n", "\n", "\n\n", "\r\n", "\u2028", " ", "  ", "   ", "    ", "\t", "x", "user"],
  ...["# ", "## ", "###### ", `## user (${AT})`, "---", "===", "-", "=", "***", "- ", "1. ", "> "],
  ...["```", "````", "~~~", "`", "``", "```sh", "\\", "|", "| a |\n|---|\n", "[x]: /y", "["],
  ...["<!--", "-->", "<h2>", "</h2>", "<details>", "<pre>", "<?", "<![CDATA[", "<a ", "&lt;"],
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

const message: fc.Arbitrary<TranscriptMessage> = fc
  .record({ text, second: text, role: fc.constantFrom("user", "assistant", "tool", "summary") })
  .map(({ role, text: said, second }): TranscriptMessage => {
    const common = { message_id: "m", at: AT };
    if (role === "user")
      return {
        ...{ ...common, role, origin: "message" },
        content: [
          { type: "text", text: said },
          { type: "text", text: second },
        ],
      };
    if (role === "tool")
      return { ...common, role, call_id: "c", tool: "shell", output: said, is_error: false };
    if (role === "summary") return { ...common, role, text: said };
    return {
      ...{ ...common, role: "assistant", agent: "root", model: "x/y", text: said },
      ...{
        stop_reason: "tool_calls",
        tool_calls: [{ call_id: "c", tool: "shell", input: second }],
      },
    };
  });

function readHeadings(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) =>
    token.type === "heading" && token.depth <= 2 ? [`${token.depth} ${token.text}`] : [],
  );
}

test("whatever is said, the headings of an export are those of its messages, and no HTML is in it", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), (messages) => {
      const document = [...writeTranscript(messages)].join("");
      const tokens = Lexer.lex(document);
      expect(readHeadings(tokens)).toEqual(messages.map(({ role }) => `2 ${NAMES[role]} (${AT})`));
      const html: string[] = [];
      void walkTokens(tokens, (token) => {
        if (token.type === "html") html.push(token.raw);
      });
      expect(html).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["Plain *words*, `Array<string>` and a < b.\n\n- my-dir\n- write_file", undefined],
  ["```sh\n# not a heading\n```", undefined],
  ["1. Run\n   ```sh\n   # it <b>\n   ```\n2. Done", undefined],
  ["See <https://x.example/a>.", undefined],
  ["# One\n\n## Two\n\n###### Six", "### One\n\n#### Two\n\n###### Six"],
  ["> # quoted", "> ### quoted"],
  ["Title\n=====\nmore\n---", "Title\n\n=====\nmore\n\n---"],
  ["```\nopen", "```\nopen\n```"],
  ["  ```\nopen", "  \\```\nopen"],
  ["<!-- x", "&lt;!-- x"],
  ["`\n`<b>`", "`\n`&lt;b>`"],
])("%j stays as it is, but for what an export cannot hold", (said, written = said) => {
  expect(writeMessageText(said)).toBe(`${written}\n\n`);
});
