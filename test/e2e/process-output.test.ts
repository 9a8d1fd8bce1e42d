import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { residentMemory } from "#test/harness/processes.ts";

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

test("8.19 more output than is kept: bounded disk and memory, exact counts, right ends", async () => {
  const bytes = 300 * MIB;
  const command = `echo first line; seq -f 'line %.0f' 1 100000000 | head -c ${bytes}; printf '\\nlast line\\n'`;
  const before = residentMemory(gateway.host.pid);
  const running = tools.execute(command, { timeout: "5m" });
  // Others are answered meanwhile.
  let answered = 0;
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    expect((await gateway.call("process.list", {})).status).toBe(200);
    answered += 1;
  }
  expect(answered).toBeGreaterThan(0);
  const done = await running;
  const total = 11 + bytes + 11;
  expect(done).toMatchObject({
    success: true,
    exit_code: 0,
    truncated: { original_bytes: total, strategy: "head_tail" },
  });
  expect(Buffer.byteLength(done.output)).toBeLessThanOrEqual(limits.model_output_bytes);
  expect(done.output.startsWith("first line\nline 1\nline 2\n")).toBe(true);
  expect(done.output.endsWith("\nlast line\n")).toBe(true);
  const entry = await newest();
  expect(entry.bytes).toBe(total);
  const folder = join(gateway.host.sessions, entry.process_id);
  expect(diskBytes(folder)).toBeLessThan(limits.output_retained_bytes + 24 * MIB);
  expect(residentMemory(gateway.host.pid) - before).toBeLessThan(200 * 1024);
  expect(done.note).toContain("no longer kept");
}, 120_000);

test.each([16_384, 16_385, 32_768, 32_769, 100_000])(
  "8.20 of %i bytes the last line survives, and nothing is said to be omitted that is not",
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

test("8.21 characters are never cut, however their bytes come", async () => {
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

test("8.22 binary output is recognised, and pages of raw bytes add up to it", async () => {
  const done = await tools.execute(
    "head -c 100000 /dev/urandom | tee >(sha256sum >&2) | cat; wait",
  );
  expect(done.output).toContain("binary output");
  const { process_id, bytes } = await newest();
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes; at += 7919) parts.push(await raw(process_id, at, 7919));
  const all = Buffer.concat(parts);
  expect(all).toHaveLength(bytes);
  const whole = await raw(process_id, 0, bytes);
  expect(all.equals(whole)).toBe(true);
  const invalid = await tools.execute("printf 'ok \\377\\376 ok\\n'");
  expect(invalid.output).toBe("ok \ufffd\ufffd ok\n");
  expect(createHash("sha256").update(all).digest("hex")).toHaveLength(64);
});

test("8.23 long lines are bounded, redraws and colours are for terminals alone", async () => {
  const long = await tools.execute("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo done");
  expect(long).toMatchObject({ exit_code: 0, truncated: { original_bytes: 20_000_006 } });
  expect(long.output.endsWith("\ndone\n")).toBe(true);
  expect(Buffer.byteLength(long.output)).toBeLessThanOrEqual(limits.model_output_bytes);
  const drawn = await tools.execute("printf '10%%\\r50%%\\r100%%\\n\\033[31mred\\033[0m\\n'");
  expect(drawn.output).toBe("100%\nred\n");
  const { process_id } = await newest();
  expect((await raw(process_id, 0, 100)).toString()).toBe(
    "10%\r50%\r100%\n\u001b[31mred\u001b[0m\n",
  );
});

test("8.24 each reader has a cursor of its own", async () => {
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

test("8.24 a wait for a pattern says where it matched, and one that does not come ends in time", async () => {
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

test("8.25 whoever hears of the exit has all of the output", async () => {
  const one = async (index: number) => {
    const isError = index % 2 === 1;
    const done = await tools.execute(isError ? "printf y >&2; exit 4" : "printf x; exit 3");
    return `${done.exit_code} ${done.output} ${done.running} ${done.success}`;
  };
  const seen = new Map<string, number>();
  for (let batch = 0; batch < 10; batch += 1) {
    const results = await Promise.all(Array.from({ length: 10 }, (_, index) => one(index)));
    for (const result of results) seen.set(result, (seen.get(result) ?? 0) + 1);
  }
  expect([...seen].toSorted()).toEqual([
    ["3 x false false", 50],
    ["4 y false false", 50],
  ]);
});

/** A head that does not end a line is given its end. */
function extraLine(head: string | undefined, offset: number): number {
  return (head?.length ?? 0) - offset;
}
