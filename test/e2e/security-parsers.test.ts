import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { readAnswer } from "#agent/hooks/hook-answer.ts";
import { MessageLines } from "#agent/mcp/message-lines.ts";
import { decodeMessage } from "#client/attach/frames.ts";
import { SseParser } from "#client/sse.ts";
import { Fault } from "#contract/fault.ts";
import { readConfig } from "#daemon/config.ts";
import { readRecord } from "#host/session/session-record.ts";
import { encodeHeader, encodeRecord, HEADER_BYTES, RECORD_BYTES } from "#log/index-format.ts";
import { lines } from "#log/lines.ts";
import { openLogFiles } from "#log/log-files.ts";
import { endOf, type LogChunk } from "#log/log-source.ts";
import { parseScript } from "#model/script.ts";
import { parseRecord } from "#registry/run-record.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** Of each property. What a run finds is written down with its seed. */
const BOUNDS = { interruptAfterTimeLimit: 4000, numRuns: 400 } as const;

const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array));
/** Nonsense, and what is nearly right: the signs that parsers stumble over. */
const nearText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.constantFrom(
        ...[
          "{",
          "}",
          "[",
          "]",
          ":",
          ": ",
          ",",
          '"',
          "'",
          "\n",
          "\r",
          "\t",
          "- ",
          "&a ",
          "*a",
          "!!x ",
        ],
        ...["<<: ", "|\n", "---\n", "null", "1e999", "__proto__", "\0", "\ud800", "\u2028", "text"],
        ...["listen", "tls", "teams", "version", "data: ", "id: 1\n", "event: x\n", "when", "type"],
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

/** What a parser of outside bytes may do: answer, or refuse with a Fault. */
function attempt<T>(parse: () => T): T | Fault {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

test("server-sent events of a server that sends anything are events or one fault", () => {
  const chunks = fc.array(
    fc.oneof(
      bytes,
      nearText.map((text) => Buffer.from(text)),
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(chunks, (parts) => {
      const parser = new SseParser({ limit: 200 });
      for (const part of parts) {
        const found = attempt(() => parser.push(part));
        if (found instanceof Fault) return;
        for (const { data, event } of found)
          expect([typeof data, typeof event]).toEqual(["string", "string"]);
      }
    }),
    BOUNDS,
  );
});

test("a message of a server that sends anything is a frame or nothing", () => {
  const message = fc.oneof(
    nearText,
    fc.json(),
    fc
      .record({ type: fc.constantFrom("stdout", "stderr", "gap", "exit", "x") })
      .map((value) => JSON.stringify(value)),
    bytes.map((array) => new Uint8Array(array).buffer),
    fc.anything(),
  );
  fc.assert(
    fc.property(message, (given) => {
      const frame = attempt(() => decodeMessage(given));
      if (frame === undefined || frame instanceof Fault) return;
      expect(typeof frame.type).toBe("string");
    }),
    BOUNDS,
  );
});

test("lines of an MCP server are the same wherever they are cut, and end at the limit", () => {
  const piece = fc.oneof(bytes, fc.constantFrom("\n", "\n\n", "a\nb", "{}\n").map(Buffer.from));
  const limits = fc.integer({ min: 1, max: 300 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), limits, (parts, limit) => {
      const all = Buffer.concat(parts);
      const expected = splitLines(all);
      const isTooLong = expected.some((line) => line.length > limit);
      const cut = new MessageLines(limit);
      const found = parts.map((part) => cut.push(part));
      if (isTooLong) expect(found).toContain(undefined);
      else expect(found.flat()).toEqual(expected.slice(0, -1).map((line) => line.toString("utf8")));
    }),
    BOUNDS,
  );
});

/** What stands between line feeds; the last one has not ended yet. */
function splitLines(all: Buffer): Buffer[] {
  const ends = [...all.keys()].filter((at) => all[at] === 0x0a);
  return [...ends, all.length].map((end, index) => all.subarray((ends[index - 1] ?? -1) + 1, end));
}

test("a hook that prints anything answers, and before a tool what is no answer blocks", () => {
  const printed = fc.oneof(
    nearText,
    fc.json(),
    fc.constantFrom('{"decision":"block"}', '{"decison":"block"}'),
  );
  fc.assert(
    fc.property(printed, (stdout) => {
      const run = {
        exit_code: 0,
        signal: null,
        stdout,
        stderr: "",
        timed_out: false,
        truncated: false,
      };
      const answer = readAnswer("pre_tool_use", run);
      const isSilent = stdout.trim() === "";
      if (!isSilent && answer.failure !== undefined) expect(answer.blocked).toBe(answer.failure);
      if (answer.permission === "allow") expect(stdout).toContain("allow");
    }),
    BOUNDS,
  );
});

test("a script of a model is a script or a fault with its file", () => {
  const text = fc.oneof(
    nearText,
    nearText.map((rest) => `- text: hello\n${rest}`),
    fc.constantFrom("- text: 'hello\n", "- text: hello\n\t- text: x\n", "- {text: hello}\n]\n"),
  );
  fc.assert(
    fc.property(text, (given) => {
      const script = attempt(() => parseScript(given, "talk.yaml"));
      const isBroken = parseDocument(given).errors.length > 0;
      if (script instanceof Fault) expect(script).toMatchObject({ code: "team_invalid" });
      else expect([script.length > 0, isBroken]).toEqual([true, false]);
    }),
    BOUNDS,
  );
});

test("a configuration is one, or a fault with its line", () => {
  using dir = openTempDir();
  const path = join(dir.path, "config.yaml");
  fc.assert(
    fc.property(nearText, (text) => {
      writeFileSync(path, text);
      const config = attempt(() => readConfig(path));
      if (config instanceof Fault) expect(config.message).toContain(path);
    }),
    { ...BOUNDS, examples: [["env_passthrough: *nowhere"]] },
  );
});

test("a record of a session that holds anything is one or is said to be none", () => {
  using dir = openTempDir();
  const content = fc.oneof(bytes, nearText, fc.json());
  fc.assert(
    fc.property(content, (given) => {
      writeFileSync(join(dir.path, "session.json"), given);
      const read = readRecord(dir.path);
      expect(read.ok).toBe(false);
    }),
    { ...BOUNDS, numRuns: 200 },
  );
});

test("a record of a run that holds anything is one or nothing", () => {
  fc.assert(
    fc.property(fc.oneof(nearText, fc.json()), (text) => {
      expect(parseRecord(text)).toBeUndefined();
    }),
    BOUNDS,
  );
});

test("lines of an events log that holds anything are objects or ranges that are named, without a hole", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        bytes,
        nearText.map((text) => Buffer.from(text)),
      ),
      async (content) => {
        const chunk: LogChunk = { kind: "bytes", offset: 0, channel: 1, at_ms: 0, bytes: content };
        let at = 0;
        for await (const line of lines(content.length === 0 ? [] : [chunk])) {
          if (line.kind === "skipped") expect(line.from).toBeGreaterThanOrEqual(at);
          at = line.kind === "line" ? line.end_offset : line.to;
          expect(at).toBeLessThanOrEqual(content.length);
        }
      },
    ),
    BOUNDS,
  );
});

/** What an index may hold that somebody, or a broken disk, has written over. */
const record = fc
  .record({
    offset: fc.nat(600),
    time: fc.nat(1000),
    channel: fc.nat(255),
    mark: fc.nat(255),
    a: fc.nat(65_535),
    b: fc.nat(65_535),
  })
  .map((given) => {
    const block = Buffer.alloc(RECORD_BYTES);
    encodeRecord(block, given);
    return block;
  });
const header = encodeHeader({ segmentBytes: 4 * 1024 * 1024, start: 0, epoch: 1_767_225_600_000 });

test("a log whose index holds anything is read to its tail, or refused with a fault", () => {
  using dir = openTempDir();
  let turn = 0;
  const index = fc.oneof(
    bytes,
    fc
      .array(fc.oneof(record, bytes), { maxLength: 12 })
      .map((parts) => Buffer.concat([header, ...parts])),
    fc.nat(HEADER_BYTES).map((at) => header.subarray(0, at)),
  );
  fc.assert(
    fc.property(index, bytes, (indexBytes, content) => {
      const folder = join(dir.path, String(++turn));
      mkdirSync(folder);
      writeFileSync(join(folder, `${"0".repeat(16)}.idx`), indexBytes);
      writeFileSync(join(folder, "0".repeat(16)), content);
      const read = attempt(() => readToTail(folder));
      if (read instanceof Fault) return;
      expect(read.at).toBe(read.tail);
      expect(read.tail).toBeGreaterThanOrEqual(0);
    }),
    { ...BOUNDS, numRuns: 200 },
  );
});

/** Every byte, or the range in which there is none, up to the tail; each step goes forward. */
function readToTail(folder: string): { readonly at: number; readonly tail: number } {
  using log = openLogFiles(folder);
  const tail = log.tail();
  let at = log.first();
  for (let chunk = log.read(at, { limit: 64 }); chunk !== undefined; ) {
    const end = endOf(chunk);
    if (end <= at) throw new Error(`${at} is followed by ${end}`);
    at = end;
    chunk = log.read(at, { limit: 64 });
  }
  for (const found of log.records(0, tail)) expect(found.offset).toBeLessThan(tail + 1);
  return { at, tail };
}
