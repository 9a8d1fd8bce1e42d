import fc from "fast-check";
import { expect, test } from "vitest";
import type { Document, OperationInput } from "#contract/operations.ts";
import { defined } from "#contract/values/defined.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import {
  exitedState,
  openWrittenSession,
  WRITTEN_SESSION,
  type WrittenSession,
} from "#test/harness/written-session.ts";
import { createExportOperations } from "./export.ts";

type Format = NonNullable<OperationInput<"session.export">["format"]>;

function exportAs(
  { hosts }: WrittenSession,
  format: Format,
  signal?: AbortSignal,
): Promise<Document> {
  const operations = createExportOperations({ hosts }, createTestCaller());
  return operations["session.export"]({ session_id: WRITTEN_SESSION, format }, defined({ signal }));
}

async function bodyOf(document: Document): Promise<string> {
  const parts = await Array.fromAsync(document.body, (part) => Buffer.from(part));
  return Buffer.concat(parts).toString("utf8");
}

const textOf = async (session: WrittenSession, format: Format) =>
  await bodyOf(await exportAs(session, format));

type CastEvent = readonly [seconds: number, kind: string, text: string];

async function castOf(session: WrittenSession) {
  const [header = "", ...events] = (await textOf(session, "asciicast")).trimEnd().split("\n");
  const first: Readonly<Record<string, unknown>> = JSON.parse(header);
  return { header: first, events: events.map((line): CastEvent => JSON.parse(line)) };
}

const opened = { type: "session.opened", cols: 100, rows: 30 };

test("a recording has the first size, every time and every later size", async () => {
  using session = openWrittenSession({ cols: 120, rows: 40, title: "my build" });
  session.note(opened);
  session.print("one");
  session.clock.advance(1500);
  session.print("two");
  session.clock.advance(500);
  session.resize(120, 40);
  session.clock.advance(250);
  session.print("three");
  const { header, events } = await castOf(session);
  expect(header).toEqual({
    version: 2,
    width: 100,
    height: 30,
    timestamp: Date.UTC(2026, 0, 1) / 1000,
    title: "my build",
    env: { TERM: "xterm-256color" },
  });
  expect(events).toEqual([
    [0, "o", "one"],
    [1.5, "o", "two"],
    [2, "r", "120x40"],
    [2.25, "o", "three"],
  ]);
});

test("the output of a recording is the decoded output, no character cut", async () => {
  const part = fc.oneof(
    fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom("€", "😀")
      .chain((text) => fc.nat(3).map((cut) => Buffer.from(text).subarray(0, cut))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part), async (parts) => {
      using session = openWrittenSession();
      for (const bytes of parts) {
        session.clock.advance(10);
        if (bytes.length > 0) session.print(bytes);
      }
      const { events } = await castOf(session);
      const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(parts));
      expect(events.map(([, , text]) => text).join("")).toBe(whole);
      const times = events.map(([at]) => at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }),
    { numRuns: 50 },
  );
});

test("a recording of pipes has both channels, and lines that begin at the left", async () => {
  using session = openWrittenSession({ kind: "command", mode: "pipe", cols: null, rows: null });
  session.note({ ...opened, cols: null, rows: null });
  const euro = Buffer.from("€");
  session.print(Buffer.concat([Buffer.from("a\nb\r\nc\r"), euro.subarray(0, 1)]));
  session.print("!", "stderr");
  session.print(Buffer.concat([euro.subarray(1), Buffer.from("\r")]));
  session.print("\nd");
  const { header, events } = await castOf(session);
  expect(header).toMatchObject({ width: 80, height: 24 });
  expect(events.map(([, , text]) => text).join("")).toBe("a\r\nb\r\nc\r!€\r\nd");
});

test("what is no longer kept is a marker in a recording and a line in a text", async () => {
  using session = openWrittenSession();
  session.print("before");
  session.lose(1000);
  session.print("behind");
  const { events } = await castOf(session);
  expect(events).toEqual([
    [0, "o", "before"],
    [0, "m", "1000 bytes are no longer kept"],
    [0, "o", "behind"],
  ]);
  expect(await textOf(session, "text")).toBe(
    "before\n[… 1000 bytes are no longer kept …]\nbehind\n",
  );
});

test("an agent has no terminal to record", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  await expect(exportAs(session, "asciicast")).rejects.toMatchObject({ code: "unsupported" });
});

test("JSON holds the session, its events, its output and its gaps", async () => {
  using session = openWrittenSession({ kind: "command", mode: "pipe" });
  session.note(opened);
  session.note({ type: "warning", message: "ü" });
  session.print("out");
  session.clock.advance(70);
  session.print("err", "stderr");
  session.print(Buffer.from([0xff, 0xfe]));
  session.lose(10);
  session.print("end");
  const parsed: unknown = JSON.parse(await textOf(session, "json"));
  expect(parsed).toMatchObject({
    session: { session_id: WRITTEN_SESSION, kind: "command" },
    epoch_ms: Date.UTC(2026, 0, 1),
    events: [opened, { type: "warning", message: "ü" }],
    output: [
      { offset: 0, channel: "stdout", at_ms: 0, data: "out" },
      { offset: 3, channel: "stderr", at_ms: 70, data: "err" },
      { offset: 6, channel: "stdout", at_ms: 70, data_b64: "//4=" },
      { offset: 18, channel: "stdout", at_ms: 70, data: "end" },
    ],
    gaps: [{ from: 8, to: 18 }],
  });
});

test("large output that is text stays text in JSON, wherever its chunks end", async () => {
  using session = openWrittenSession();
  const text = `x${"€".repeat(100_000)}`;
  session.print(text);
  const { output }: { readonly output: readonly { readonly data?: string }[] } = JSON.parse(
    await textOf(session, "json"),
  );
  expect(output.length).toBeGreaterThan(3);
  expect(output.map(({ data }) => data).join("")).toBe(text);
});

test("an empty session is a valid document of every kind", async () => {
  using session = openWrittenSession({ title: "nothing" });
  expect(await textOf(session, "text")).toBe("");
  expect(JSON.parse(await textOf(session, "json"))).toMatchObject({
    epoch_ms: null,
    events: [],
    output: [],
    gaps: [],
  });
  expect((await castOf(session)).events).toEqual([]);
  expect(await textOf(session, "markdown")).toMatch(/\n```\n```\n$/);
});

test("Markdown has the facts in a table and the text in a fence", async () => {
  using session = openWrittenSession({
    title: "a *fine* <b>build</b>\n# not a heading",
    argv: ["sh", "-c", "a | b `c`"],
    work_dir: "/tmp/x",
  });
  session.print("\x1b[32mok\x1b[0m\r\n");
  session.enter(exitedState(11, { final: true }));
  expect(await textOf(session, "markdown")).toBe(
    [
      "# a \\*fine\\* &lt;b>build&lt;/b> # not a heading",
      "",
      "| | |",
      "|---|---|",
      `| Session | ${WRITTEN_SESSION} |`,
      "| Kind | terminal |",
      "| Command | sh -c 'a \\| b \\`c\\`' |",
      "| Work dir | /tmp/x |",
      "| Created | 2026-01-01T00:00:00.000Z |",
      "| State | exited with 0 (exited) |",
      "",
      "```",
      "ok",
      "```",
      "",
    ].join("\n"),
  );
});

test("no output breaks out of its fence", async () => {
  const part = fc.constantFrom("`", "``", "```", "````````", "\n", "\r", "\x1b[m", "\b", " ", "x");
  await fc.assert(
    fc.asyncProperty(fc.array(part), async (parts) => {
      using session = openWrittenSession();
      for (const text of parts) session.print(text);
      const document = await textOf(session, "markdown");
      const [fence = "", ...lines] = document.slice(document.indexOf("\n\n`") + 2).split("\n");
      const end = lines.findIndex((line) => line.trimStart().startsWith(fence));
      expect(fence).toMatch(/^`{3,}$/);
      expect(lines.slice(end)).toEqual([fence, ""]);
      expect(
        lines
          .slice(0, end)
          .map((line) => `${line}\n`)
          .join(""),
      ).toBe(await textOf(session, "text"));
    }),
    { numRuns: 100 },
  );
});

/** What an agent's worker writes: a question, an answer with a call, its result, and how that ended. */
function noteConversation(session: WrittenSession): void {
  const said = (type: string, more: object) =>
    session.note({ type, at: "2026-01-01T00:00:00Z", session_id: WRITTEN_SESSION, ...more });
  const answer = { message_id: "m2", agent: "root" };
  const call = { call_id: "c1", tool: "shell" };
  const ask = { type: "text", text: "do\n# it <b>" };
  said("message.user", { message_id: "m1", content: [ask], origin: "message" });
  said("message.start", { ...answer, model: "x/y" });
  said("message.delta", { ...answer, text: "I lo" });
  session.note({ type: "reply", id: "1", result: { secret: true } });
  session.note({ type: "message.user", at: "no time", content: "not of this shape" });
  said("tool.call.end", { ...answer, ...call, input: { cmd: "ls" } });
  said("message.end", { ...answer, model: "x/y", text: "I look", stop_reason: "tool_calls" });
  said("tool.result", { ...call, output: "```\n## user", is_error: true });
  said("error", { code: "model_failed", message: "no" });
}

test("an agent's Markdown is what was said and done", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe", title: "agent" });
  noteConversation(session);
  const document = await textOf(session, "markdown");
  const at = "(2026-01-01T00:00:00Z)";
  expect(document.slice(document.indexOf("\n## ") + 1)).toBe(
    [
      `## user ${at}\n\ndo\n### it &lt;b>\n`,
      `## root ${at}\n\nI look\n\nCalls shell\n\n\`\`\`\n{\n  "cmd": "ls"\n}\n\`\`\`\n`,
      `## shell: failed ${at}\n\n\`\`\`\`\n\`\`\`\n## user\n\`\`\`\`\n`,
      `## error: model_failed ${at}\n\nno\n\n`,
    ].join("\n"),
  );
});

test("an agent's JSON has what was said and done, and no answers of its worker", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe" });
  noteConversation(session);
  const { transcript, events } = JSON.parse(await textOf(session, "json"));
  expect(transcript).toMatchObject([
    { role: "user", content: [{ text: "do\n# it <b>" }] },
    { role: "assistant", text: "I look", tool_calls: [{ tool: "shell", input: { cmd: "ls" } }] },
    { role: "tool", is_error: true },
    { role: "error", code: "model_failed" },
  ]);
  expect(events).toHaveLength(8);
  expect(JSON.stringify(events)).not.toContain("secret");
  using terminal = openWrittenSession();
  expect(JSON.parse(await textOf(terminal, "json"))).not.toHaveProperty("transcript");
});

test("a document ends where the session was when it was asked for, and is named after it", async () => {
  using session = openWrittenSession();
  session.print("then\n");
  const document = await exportAs(session, "text");
  session.print("later\n");
  expect(document).toMatchObject({
    file_name: `${WRITTEN_SESSION}.txt`,
    media_type: "text/plain; charset=utf-8",
  });
  expect(await bodyOf(document)).toBe("then\n");
  expect((await exportAs(session, "asciicast")).file_name).toBe(`${WRITTEN_SESSION}.cast`);
});

test.each<Format>(["asciicast", "text", "json", "markdown"])(
  "a document as %s is read as it is taken, and nothing is held before or after",
  async (format) => {
    using session = openWrittenSession();
    const line = `${"x".repeat(1023)}\n`;
    for (let count = 0; count < 16; count += 1) session.print(line.repeat(1024));
    const { body } = await exportAs(session, format);
    expect(session.hosts.all()[0].followed).toBe(0);
    let longest = 0;
    let taken = 0;
    for await (const part of body) {
      longest = Math.max(longest, part.length);
      taken += 1;
      expect(session.hosts.all()[0].followed).toBe(1);
      if (taken === 20) break;
    }
    expect(taken).toBe(20);
    expect(longest).toBeLessThan(1024 * 1024);
    expect(session.hosts.all()[0].followed).toBe(0);
  },
);

test("whoever leaves ends the document", async () => {
  using session = openWrittenSession();
  session.print("x\n".repeat(100_000));
  const leaving = new AbortController();
  const { body } = await exportAs(session, "text", leaving.signal);
  const parts = body[Symbol.asyncIterator]();
  await parts.next();
  leaving.abort(new Error("left"));
  await expect(parts.next()).rejects.toThrow("left");
  expect(session.hosts.all()[0].followed).toBe(0);
});
