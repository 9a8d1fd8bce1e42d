import { Agent, type IncomingMessage, request } from "node:http";
import { interleave, median, pairedRatios } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openBare } from "./bare.ts";
import { openPrintedSession } from "./printed-session.ts";
import { openTempGateway } from "./temp-gateway.ts";

const RANGE_BYTES = 1024 * 1024;
const PASSES = 3;
const MB = 1e6;

/** The whole log by one request after the other on one connection, against one request for all. */
export async function measureOutput({ runs }: RowOptions): Promise<Row[]> {
  await using bare = await openBare();
  await using gateway = await openTempGateway();
  await using printed = await openPrintedSession(gateway);
  const { bytes, sessionId, path } = printed;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { Authorization: `Bearer ${gateway.token}` };
  const url = `${gateway.url}/v1/sessions/${sessionId}/output?limit=${RANGE_BYTES}&since=`;
  const measures = {
    bare: () => timed(bytes, () => fetchCount(bare.fileUrl(path), { agent })),
    output: () =>
      timed(bytes, async () => {
        let next = 0;
        while (next < bytes) next += await fetchCount(`${url}${next}`, { agent, headers });
        return next;
      }),
  };
  await interleave(1, measures);
  const speeds = await interleave(runs, measures);
  agent.destroy();
  return [
    {
      what: `/output of ${Math.round(bytes / 2 ** 20)} MiB in ranges of 1 MiB`,
      measured: `${median(speeds.output).toFixed(0)} MB/s`,
      against: `bare node:http file pipe: ${median(speeds.bare).toFixed(0)} MB/s`,
      ratio: median(pairedRatios(speeds.output, speeds.bare)),
      target: { at_least: 1 },
    },
  ];
}

/** MB/s. */
async function timed(bytes: number, read: () => Promise<number>): Promise<number> {
  const started = performance.now();
  for (let pass = 0; pass < PASSES; pass += 1) {
    const count = await read();
    if (count !== bytes) throw new Error(`${count} of ${bytes} bytes came`);
  }
  return (PASSES * bytes) / ((performance.now() - started) / 1000) / MB;
}

interface FetchOptions {
  readonly agent: Agent;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bytes of the answer. */
function fetchCount(url: string, options: FetchOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const onResponse = (response: IncomingMessage) => {
    let count = 0;
    response.on("data", (bytes: Buffer) => {
      count += bytes.length;
    });
    response.on("error", reject);
    response.on("end", () => {
      if (response.statusCode === 200) resolve(count);
      else reject(new Error(`${url}: ${response.statusCode}`));
    });
  };
  request(url, options, onResponse).on("error", reject).end();
  return promise;
}
