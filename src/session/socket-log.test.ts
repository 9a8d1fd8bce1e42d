import { join } from "node:path";
import { expect, test } from "vitest";
import { openBoundHost } from "#host/testing/open-bound-host.ts";
import { openLogFiles } from "#log/log-files.ts";
import { endOf, type LogSource } from "#log/log-source.ts";
import { createSocketLog } from "./socket-log.ts";

async function readAll(source: LogSource, limit: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let cursor = 0; ; ) {
    const chunk = await source.read(cursor, { limit });
    if (chunk === undefined) return found;
    found.push(chunk.kind === "gap" ? chunk : { ...chunk, bytes: String(chunk.bytes) });
    cursor = endOf(chunk);
  }
}

test.each([1, 7, 100_000])(
  "reads the same chunks as the files, %i bytes at a time",
  async (limit) => {
    await using bound = await openBoundHost();
    const { session, child } = await bound.host.open();
    for (let line = 0; line < 10; line += 1) child.print(`line ${line}\r\n`);
    const client = await bound.session(session.id);
    const log = createSocketLog(client, { session_id: session.id, log: "output" });
    using files = openLogFiles(join(session.dir, "output"));
    expect(await readAll(log, limit)).toEqual(await readAll(files, limit));
    expect([await log.tail(), await log.first()]).toEqual([files.tail(), files.first()]);
    await expect(log.read(files.tail() + 1, { limit })).rejects.toMatchObject({
      code: "offset_out_of_range",
    });
  },
);

test("reads no further than the tail that it is given, into the buffer that it is given", async () => {
  await using bound = await openBoundHost();
  const { session, child } = await bound.host.open();
  child.print("abcdefgh");
  const client = await bound.session(session.id);
  const log = createSocketLog(client, { session_id: session.id, log: "output" });
  const into = Buffer.alloc(4);
  const chunk = await log.read(1, { limit: 100, tail: 6, into });
  expect(chunk).toMatchObject({ kind: "bytes", offset: 1 });
  expect(String(into)).toBe("bcde");
  expect(await log.read(6, { limit: 100, tail: 6 })).toBe(undefined);
});

test("the log of a session outside the tree does not exist", async () => {
  await using bound = await openBoundHost();
  const { session } = await bound.host.open();
  const { session: foreign } = await bound.host.open();
  const client = await bound.session(session.id);
  const log = createSocketLog(client, { session_id: foreign.id, log: "events" });
  await expect(log.read(0, { limit: 1 })).rejects.toMatchObject({ code: "session_not_found" });
});
