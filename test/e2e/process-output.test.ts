import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { channels } from "#contract/channels.ts";
import { limits } from "#contract/limits.ts";
import { openLogFiles } from "#log/log-files.ts";
import { endOf } from "#log/log-source.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { residentMemory } from "#test/harness/processes.ts";
import { repeats } from "#test/harness/repeats.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/** What models are shown of the output, and that the whole of it stays where it can be read. */

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let tools: TestTools;
beforeAll(async () => {
  gateway = stack.use(await openTestGateway());
  tools = stack.use(openTestTools(gateway.host));
});
afterAll(() => stack.disposeAsync());

const MIB = 1024 * 1024;
/** Beyond what is kept. */
const MORE_BYTES = repeats({ few: 64, full: 256 }) * MIB;
const newest = async () => {
  const [entry] = (await tools.call("process_list", {})).processes;
  if (entry === undefined) throw new Error("nothing is listed");
  return entry;
};
/** Raw bytes of a range, as anybody can read them. */
const raw = async (id: string, since: number, limit: number): Promise<Buffer> => {
  const path = `/v1/sessions/${id}/output?since=${since}&limit=${limit}`;
  return Buffer.from(await (await gateway.fetch(path)).arrayBuffer());
};
const diskBytes = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** What two descriptors are written to by turns: a shell's own lines, and those of a program that it starts. */
const ALTERNATING = [
  "for ((i = 0; i < 500; i++)); do echo o$i; echo e$i >&2; done",
  'exec python3 -c \'import os\nfor i in range(500): os.write(1, b"O%d\\n" % i); os.write(2, b"E%d\\n" % i)\'',
].join("\n");
const alternated = (out: string, err: string) =>
  Array.from({ length: 500 }, (_, at) => `${out}${at}\n${err}${at}\n`).join("");

test("stdout and stderr are one pipe and stand in the order of their writes, of which all are stdout", async () => {
  const expected = alternated("o", "e") + alternated("O", "E");
  const done = await tools.execute(ALTERNATING);
  expect(done).toMatchObject({ exit_code: 0, output: expected });
  const { process_id } = await newest();
  expect(channelsOf(process_id)).toEqual([channels.stdout]);
  const sent = await gateway.get("process.execute", { command: ALTERNATING, workdir: "/" });
  expect(sent.output).toBe(expected);
});

test("a session that no tool has started keeps stdout and stderr apart", async () => {
  const command = "echo out; echo err >&2";
  const { session_id } = await gateway.get("session.create", { kind: "command", command });
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 20_000 });
  expect(channelsOf(session_id)).toEqual([channels.stdout, channels.stderr]);
});

test.each([16_384, 16_385, 32_768, 32_769, 100_000])(
  "of %i bytes the last line survives, and nothing is said to be omitted that is not",
  async (size) => {
    const tail = "THE END\n";
    const done = await tools.execute(
      `head -c ${size - tail.length} <(yes 0123456789); printf '${tail.trim()}\\n'`,
    );
    expect(done.output.endsWith(tail)).toBe(true);
    expect(Buffer.byteLength(done.output)).toBeLessThanOrEqual(limits.model_output_bytes);
    if (size <= limits.model_output_bytes) {
      expect(done).not.toHaveProperty("truncated");
      expect(Buffer.byteLength(done.output)).toBe(size);
      return;
    }
    const { truncated } = done;
    expect(truncated?.original_bytes).toBe(size);
    expect((truncated?.retained_bytes ?? 0) + (truncated?.omitted_bytes ?? 0)).toBe(size);
    const { process_id } = await newest();
    const { spool_offset = 0, omitted_bytes = 0 } = truncated ?? {};
    const [head, , rest] = done.output.split(/(\[\.\.\..*\.\.\.\]\n)/);
    const omitted = await raw(process_id, spool_offset, omitted_bytes);
    expect(omitted).toHaveLength(omitted_bytes);
    const whole = await raw(process_id, 0, size);
    expect(`${head}${omitted.toString()}${rest}`.length).toBe(
      whole.length + extraLine(head, spool_offset),
    );
    expect(whole.toString().endsWith(rest ?? "?")).toBe(true);
    expect(whole.subarray(0, spool_offset).toString()).toBe(head?.slice(0, spool_offset));
  },
);

test("characters are never cut, however their bytes come", async () => {
  const text = "aä€😀".repeat(20);
  const script = `import sys,time
for b in ${JSON.stringify([...Buffer.from(text)])}:
    sys.stdout.buffer.write(bytes([b])); sys.stdout.flush()`;
  const done = await tools.execute(`python3 -c '${script}'`);
  expect(done.output).toBe(text);
  const long = await tools.execute(`python3 -c 'print("€😀ä" * 20000, end="")'`);
  expect(long.truncated).toMatchObject({ original_bytes: 9 * 20_000 });
  expect(long.output).not.toContain("\ufffd");
  // Pages of a cursor: each begins where the one before ended.
  const { process_id } = await newest();
  const page = await tools.call("process_output", { process_id, since: 7, max_bytes: 1024 });
  expect(page.output).not.toContain("\ufffd");
});

test("binary output is recognised, and pages of raw bytes add up to it", async () => {
  using dir = openTempDir();
  const printed = join(dir.path, "printed");
  const size = 100_000;
  const done = await tools.execute(`head -c ${size} /dev/urandom | tee ${printed}`);
  const expected = readFileSync(printed);
  const [title, ...hex] = done.output.trimEnd().split("\n");
  expect(title).toBe(`[binary output, ${size} bytes; the first 256 in hexadecimal:]`);
  expect(hex.join(" ").replaceAll(" ", "")).toBe(expected.subarray(0, 256).toString("hex"));
  expect(done).toMatchObject({
    exit_code: 0,
    truncated: { original_bytes: size, omitted_bytes: size - 256, spool_offset: 256 },
  });
  const { process_id, bytes } = await newest();
  expect([bytes, expected.length]).toEqual([size, size]);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes; at += 7919) parts.push(await raw(process_id, at, 7919));
  const hash = (content: Buffer) => createHash("sha256").update(content).digest("hex");
  expect(hash(Buffer.concat(parts))).toBe(hash(expected));
  expect(hash(await raw(process_id, 0, bytes))).toBe(hash(expected));
});

test("bytes that are no UTF-8 are shown as such, and the cursor counts them as they are", async () => {
  using dir = openTempDir();
  const go = join(dir.path, "go");
  const started = await tools.execute(
    `printf 'a \\377\\376 b'; until [ -e ${go} ]; do sleep 0.02; done; printf '\\303( c\\n'`,
    { run_in_background: true },
  );
  const process_id = started.background_process_id ?? "";
  const first = await tools.call("process_output", { process_id, wait_for: "output" });
  expect(first).toMatchObject({ output: "a \ufffd\ufffd b", offset: 0, next_offset: 6 });
  writeFileSync(go, "");
  await tools.call("process_wait", { process_id, timeout: "20s" });
  const second = await tools.call("process_output", { process_id, since: first.next_offset });
  expect(second).toMatchObject({ output: "\ufffd( c\n", offset: 6, next_offset: 11 });
  expect((await raw(process_id, 0, 100)).toString("latin1")).toBe("a \xff\xfe b\xc3( c\n");
});

test("long lines are bounded, redraws and colours are for terminals alone", async () => {
  const long = await tools.execute("head -c 2000000 /dev/zero | tr '\\0' x; echo; echo done");
  expect(long).toMatchObject({ exit_code: 0, truncated: { original_bytes: 2_000_006 } });
  expect(long.output.endsWith("\ndone\n")).toBe(true);
  expect(Buffer.byteLength(long.output)).toBeLessThanOrEqual(limits.model_output_bytes);
  const drawn = await tools.execute("printf '10%%\\r50%%\\r100%%\\n\\033[31mred\\033[0m\\n'");
  expect(drawn.output).toBe("100%\nred\n");
  const { process_id } = await newest();
  expect((await raw(process_id, 0, 100)).toString()).toBe(
    "10%\r50%\r100%\n\u001b[31mred\u001b[0m\n",
  );
});

test("each reader has a cursor of its own", async () => {
  const started = await tools.execute("echo one; read x; echo $x; read x; echo $x", {
    tty: true,
    run_in_background: true,
  });
  const process_id = started.background_process_id;
  const read = (since: number, more: object = {}) =>
    tools.call("process_output", { process_id, since, wait: "20s", wait_for: "output", ...more });
  const first = await read(0, { wait_for: "regex", pattern: "one\\r?\\n" });
  expect(first).toMatchObject({ offset: 0, next_offset: 5, running: true, success: true });
  const waiting = [read(first.next_offset), read(first.next_offset)];
  await tools.call("process_input", { process_id, text: "two", enter: true });
  await tools.call("process_input", { process_id, text: "three", enter: true });
  await Promise.all(waiting);
  const end = await tools.call("process_wait", { process_id, timeout: "20s" });
  expect(end).toMatchObject({ running: false, exit_code: 0, offset: 0 });
  const rests = await Promise.all([read(first.next_offset), read(first.next_offset)]);
  expect(rests[0]).toEqual(rests[1]);
  expect(`${first.output}${rests[0]?.output}`).toBe(end.output);
  expect(await read(end.next_offset)).toEqual({
    ...end,
    output: "",
    offset: end.next_offset,
  });
  await expect(read(end.next_offset + 1)).rejects.toMatchObject({ code: "offset_out_of_range" });
});

test("a wait for a pattern says where it matched, and one that does not come ends in time", async () => {
  const started = await tools.execute(
    "echo starting; sleep 0.1; echo listening on port 8080; cat",
    {
      tty: true,
      run_in_background: true,
    },
  );
  const process_id = started.background_process_id;
  const read = (more: object) => tools.call("process_output", { process_id, ...more });
  const found = await read({ pattern: "port (\\d+)", wait: "20s" });
  expect(found).toMatchObject({ running: true, success: true });
  expect(found.note).toContain("the pattern matches at offset 23");
  expect(found).not.toHaveProperty("timed_out");
  const missed = await read({ pattern: "never", wait: "100ms" });
  expect(missed).toMatchObject({ timed_out: true, running: true });
  expect(missed).not.toHaveProperty("exit_code");
  // Neither has taken anything away.
  expect(missed.output).toContain("starting\nlistening on port 8080\n");
  for (const wrong of [
    { wait_for: "regex" },
    { pattern: "a", wait_for: "exit" },
    { pattern: "(", wait: "1s" },
  ])
    await expect(read(wrong)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("pattern"),
    });
  await tools.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });
});

test("more output than is kept: bounded disk and memory, exact counts, right ends, and pages say what is lost", async () => {
  // Lines of 16 bytes, so that each offset has one right content.
  const lines = (limits.output_retained_bytes + MORE_BYTES) / 16;
  const total = lines * 16;
  const before = residentMemory(gateway.host.pid);
  const running = tools.execute(`seq ${FIRST_NUMBER} ${FIRST_NUMBER + lines - 1}`, {
    timeout: "5m",
  });
  // Others are answered meanwhile.
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  const answers = async () => {
    expect((await gateway.call("process.list", {})).status).toBe(200);
    return isOver;
  };
  await waitFor("it has printed all", answers, { timeout: 120_000 });
  const done = await running;
  expect(done).toMatchObject({
    success: true,
    exit_code: 0,
    truncated: { original_bytes: total, strategy: "head_tail" },
  });
  expect(done.note).toContain("no longer kept");
  expect(Buffer.byteLength(done.output)).toBeLessThanOrEqual(limits.model_output_bytes);
  expect(done.output.startsWith(numbered(0, 3))).toBe(true);
  expect(done.output.endsWith(`\n${numbered(lines - 1, lines)}`)).toBe(true);
  const { process_id, bytes } = await newest();
  expect(bytes).toBe(total);
  const folder = join(gateway.host.sessions, process_id);
  expect(diskBytes(folder)).toBeLessThan(limits.output_retained_bytes + 24 * MIB);
  expect(residentMemory(gateway.host.pid) - before).toBeLessThan(total / 1024 / 2);
  const since = 6 * MIB;
  const page = await gateway.fetch(`/v1/sessions/${process_id}/output?since=${since}&limit=160`);
  const [from, to] = (page.headers.get("X-Reins-Gap") ?? "").split("-").map(Number);
  expect(from).toBe(since);
  const kept = to ?? 0;
  expect(total - kept).toBeGreaterThan(limits.output_retained_bytes / 2);
  expect(await page.text()).toBe(numbered(kept / 16, kept / 16 + 10));
  const read = (at: number) =>
    tools.call("process_output", { process_id, since: at, max_bytes: 2048 });
  const inside = await read(since);
  expect(inside).toMatchObject({
    offset: since,
    next_offset: total,
    note: `${kept - since} bytes of this output are no longer kept`,
    truncated: { original_bytes: total - since, spool_offset: since },
  });
  const [marker = "", ...shown] = inside.output.split("\n");
  expect(marker).toContain(`${kept - since} of them are lost`);
  expect(shown.join("\n")).toBe(numbered(lines - shown.length + 1, lines));
  // The first segment is never evicted, so a page may begin before the gap as well.
  const edge = 4 * MIB;
  const first = await read(edge - 32);
  expect(first.note).toBe(`${kept - edge} bytes of this output are no longer kept`);
  expect(first.output.startsWith(`${numbered(edge / 16 - 2, edge / 16)}[...`)).toBe(true);
  const behind = await read(kept);
  expect(behind).not.toHaveProperty("note");
  expect(behind.output.startsWith(numbered(kept / 16, kept / 16 + 1))).toBe(true);
}, 120_000);

test("every client that hears of the exit has all of the output", async () => {
  const runs = repeats({ few: 24, full: 1000 });
  const seen = new Map<string, number>();
  let next = 0;
  const runOn = async () => {
    for (let index = next++; index < runs; index = next++) {
      const isError = index % 2 === 1;
      const done = await tools.execute(isError ? "printf y >&2; exit 4" : "printf x; exit 3");
      const said = `${done.exit_code} ${done.output} ${done.running} ${done.success}`;
      seen.set(said, (seen.get(said) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, runOn));
  expect([...seen].toSorted()).toEqual([
    ["3 x false false", runs / 2],
    ["4 y false false", runs / 2],
  ]);
}, 60_000);

/** Of 15 digits, as are those behind it: `seq` is slow where it has to fill them up. */
const FIRST_NUMBER = 1e14;

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => `${FIRST_NUMBER + from + at}\n`).join("");
}

/** Of all that it has printed, each once. */
function channelsOf(id: string): number[] {
  using source = openLogFiles(join(gateway.host.sessions, id, "output"));
  const found = new Set<number>();
  for (let at = 0; at < source.tail(); ) {
    const chunk = source.read(at, { limit: MIB });
    if (chunk?.kind !== "bytes") throw new Error(`no bytes at ${at}`);
    found.add(chunk.channel);
    at = endOf(chunk);
  }
  return [...found].toSorted();
}

/** A head that does not end a line is given its end. */
function extraLine(head: string | undefined, offset: number): number {
  return (head?.length ?? 0) - offset;
}
