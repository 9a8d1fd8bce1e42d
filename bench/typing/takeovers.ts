import { setTimeout as sleep } from "node:timers/promises";
import { openTempGateway } from "#bench/gateway/temp-gateway.ts";
import { readWholeLog } from "#bench/lib/whole-log.ts";
import { checkKeys, runTakeovers } from "#test/harness/takeovers.ts";

export interface TypedThrough {
  readonly takeovers: number;
  readonly cuts: number;
  readonly keys: number;
  readonly slowest_return_ms: number;
  readonly wrong: readonly string[];
}

const POLL_MS = 20;

/** Two clients of a gateway take control from each other, and every key that they type is looked for in the log. */
export async function typeThroughTakeovers(size: {
  readonly takeovers: number;
  readonly cutEvery: number;
}): Promise<TypedThrough> {
  await using gateway = await openTempGateway();
  const { url, token, host } = gateway;
  const { session_id } = await host.create({ kind: "command", argv: ["/bin/cat"], stdin: true });
  const facts = await runTakeovers({ url, token, session_id, ...size });
  for (;;) {
    const { state } = await host.client.call("session.get", { session_id });
    if (state.kind === "exited" && state.final) break;
    await sleep(POLL_MS);
  }
  const printed: Buffer[] = [];
  await readWholeLog(host, session_id, (bytes) => printed.push(Buffer.from(bytes)));
  const { takeovers, cuts, slowest_return_ms } = facts;
  return {
    ...{ takeovers, cuts, slowest_return_ms },
    keys: Object.values(facts.keys).reduce((sum, count) => sum + count, 0),
    wrong: [...facts.wrong, ...checkKeys(Buffer.concat(printed).toString("utf8"), facts)],
  };
}
