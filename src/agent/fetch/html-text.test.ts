import { expect, test } from "vitest";
import { htmlToText } from "./html-text.ts";

const url = "https://example.com/docs/page";
const text = (html: string) => htmlToText(html, { markdown: false, url });
const markdown = (html: string) => htmlToText(html, { markdown: true, url });

test("a page becomes its words, without what is not for reading", () => {
  const page = `<!DOCTYPE html><html><head><title>The
    title</title><style>p { color: red }</style><script>if (a < b) alert("</p>")</script></head>
    <body><!-- <p>no</p> --><SCRIPT>x</SCRIPT><noscript>no</noscript>
    <h1>Head</h1><p>One <b>two</b>
    three.</p><p>Four<br>five</p><ul><li>a</li><li>b</li></ul></body></html>`;
  expect(text(page)).toBe("The title\n\nHead\n\nOne two three.\n\nFour\nfive\n\n- a\n- b");
});

test("headings, links, lists and code become Markdown", () => {
  const page = `<h2>Part</h2><p>See <a class="x" href="../a?b=1&amp;c=2">there</a>, <a href='javascript:x()'>not</a>
    <a name=y>here</a>.</p><pre><code>if (a &lt; b) {
  run();
}</code></pre><p>end`;
  expect(markdown(page)).toBe(
    "## Part\n\nSee [there](https://example.com/a?b=1&c=2), not here.\n\n```\nif (a < b) {\n  run();\n}\n\n```\n\nend",
  );
});

test.each([
  [
    "a &amp; b &lt;c&gt; &#65;&#x42; &nbsp;d &unknown; &#0; &#xD800; &",
    "a & b <c> AB d &unknown; &#0; &#xD800; &",
  ],
  ["1 < 2 and 3 <4", "1 < 2 and 3 <4"],
  ['<p title="a > b">x</p>', "x"],
  ["<script>never closed", ""],
  ["text <!-- never closed", "text"],
  ["text <b", "text"],
  ["<td>a</td><td>b</td>", "a b"],
])("%j becomes %j", (html, expected) => {
  expect(text(html)).toBe(expected);
});

test.each([
  ["tags", "<".repeat(400_000)],
  ["comments", "<!--".repeat(200_000)],
  ["scripts", "<script>".repeat(100_000)],
  ["quotes", '<a "'.repeat(200_000)],
  ["entities", "&#".repeat(300_000)],
  ["links", '<a href="x">'.repeat(50_000)],
  ["titles", "<title>".repeat(100_000)],
  ["blanks", `${" ".repeat(400_000)}x`],
  ["blanks in code", `<pre>${" ".repeat(400_000)}x`],
  ["lines", `<p>${" \n".repeat(200_000)}<br> `.repeat(2)],
])("a page of nothing but %s is read to its end", { timeout: 10_000 }, (_what, html) => {
  expect(typeof markdown(html)).toBe("string");
});
