import fc from "fast-check";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { Markdown } from "./markdown.tsx";

const draw = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));
/** Every element that may come out of a text. */
const ELEMENTS =
  /^(?:div|p|h2|ul|ol|li|blockquote|figure|figcaption|pre|code|table|thead|tbody|tr|th|td|hr|br|strong|em|del|a|button|span|bdi|svg|path)$/;

describe("Markdown", () => {
  test.each([
    ["# One", "<h2", "One"],
    ["- a\n- b", "<ul>", "<li"],
    ["3. a\n4. b", '<ol start="3">', "b"],
    ["**a** *b* ~~c~~ `d`", "<strong>a</strong>", "<code>d</code>"],
    ["| a |\n|--|\n| b |", "<table>", "<td"],
    ["> a", "<blockquote>", "a"],
    ["```ts\nlet a;\n```", "<span>ts</span>", "let a;"],
    ["- [x] done", "☑", "done"],
  ])("%j is drawn", (text, one, other) => {
    expect(draw(text)).toContain(one);
    expect(draw(text)).toContain(other);
  });

  test.each([
    "<script>alert(1)</script>",
    "a <img src=x onerror=alert(1)> b",
    "<iframe name='x'></iframe>",
    "<!-- hidden -->",
    "<a href='javascript:alert(1)'>a</a>",
  ])("%s is shown as the text that it is", (text) => {
    const drawn = draw(text);
    expect(drawn).not.toMatch(/<(?:script|img|iframe|!--|a )/);
    expect(drawn).toContain("&lt;");
  });

  test.each([
    "[a](javascript:alert(1))",
    "[a](data:text/html,x)",
    "![a](file:///x)",
    "[a](/v1/me)",
  ])("%s leads nowhere, and says where it would", (text) => {
    const drawn = draw(text);
    expect(drawn).not.toContain("href");
    expect(drawn).not.toContain("<button");
    expect(drawn).toContain("<code");
  });

  test("a link that hides its address is looked at before it is followed", () => {
    const drawn = draw("[bank](https://evil.example/)");
    expect(drawn).not.toContain("href");
    expect(drawn).toContain('title="https://evil.example/"');
  });

  test("a link that is its own address is a link, which tells nobody where it came from", () => {
    const address = "https://example.com/";
    expect(draw(address)).toContain(
      `<a href="${address}" target="_blank" rel="noopener noreferrer">`,
    );
  });

  test("a picture from elsewhere is not loaded", () => {
    expect(draw("![cat](https://example.com/cat.png)")).not.toContain("<img");
  });

  test("a very long block is shown as it is", () => {
    expect(draw("*".repeat(70_000))).toContain("<pre");
  });

  test("whatever the text is, only known elements come of it", () => {
    const piece = fc.constantFrom(
      ..."<script>,</p>,<b x=',`,```,\n,\n\n,[,](,),http://a.b/,javascript:,*,_,|,---,# ,> ,- ,&lt;,\\,a, ".split(
        ",",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const drawn = draw(pieces.join(""));
        for (const [, name = ""] of drawn.matchAll(/<\/?([\w-]+)/g)) expect(name).toMatch(ELEMENTS);
        for (const [, href = ""] of drawn.matchAll(/href="([^"]*)"/g))
          expect(href).toMatch(/^https?:/);
      }),
    );
  });
});
