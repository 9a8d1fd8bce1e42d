import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { findAnswering } from "./answering.ts";
import type { RunRecord } from "./run-record.ts";

function served(address: string | null): RunRecord {
  // Only what a probe looks at.
  return { address } as RunRecord;
}

async function listen(where: { port: number; host: string } | { path: string }) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(where, resolve));
  const address = server.address();
  return {
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test("an address that takes connections answers, on a port and on a socket; no other does", async () => {
  using dir = openTempDir();
  const path = join(dir.path, "a.sock");
  await using _socket = await listen({ path });
  const records: RunRecord[] = [];
  {
    await using four = await listen({ port: 0, host: "127.0.0.1" });
    await using six = await listen({ port: 0, host: "::1" });
    records.push(
      served(`http://127.0.0.1:${four.port}`),
      served(`https://[::1]:${six.port}`),
      served(`unix:${path}`),
      served(`unix:${path}.none`),
      served("http://127.0.0.1:1"),
      served("http://"),
      served(null),
    );
    expect(await findAnswering(records)).toEqual(records.slice(0, 3));
  }
  expect(await findAnswering(records)).toEqual(records.slice(2, 3));
});
