import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { createMcpServer } from "./server.ts";
import { runMcpStdio } from "./stdio.ts";
import { createFakeTools } from "./testing/fake-tools.ts";

test("a signal that came before it began ends it as well", async () => {
  const createServer = () =>
    createMcpServer({
      ...{ tools: () => createFakeTools({}), version: "1", log: silentLogger },
      clock: new ManualClock(),
    });
  const streams = { stdin: new PassThrough(), stdout: new PassThrough().resume() };
  await runMcpStdio({ createServer, log: silentLogger, signal: AbortSignal.abort() }, streams);
  expect(streams.stdout.writableFinished).toBe(true);
});
