import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { WebSocket } from "ws";
import { openTempGateway, type TempGateway } from "#bench/gateway/temp-gateway.ts";
import { median } from "#bench/lib/statistics.ts";
import { reinsPath } from "#bench/lib/temp-host.ts";
import { type Row, type RowOptions, scaled } from "#bench/row.ts";
import { type Client, createClient } from "#client/client.ts";
import type { SessionId } from "#contract/ids.ts";

const SIZES_MB = [1, 10, 100, 1000];
const LEAST_MB = 0.01;
const MB = 1e6;
const LINE_CHARS = 79;
const LAST_LINES = 50;
const PAINT_MS = 60_000;

/** Again and again, each the first of a gateway that has just been started. */
const looks = ["screen", "paint", "glance", "logs"] as const;
/** `unseen`: once, of a session whose screen nobody has ever asked for. */
type Look = (typeof looks)[number] | "unseen";
const named: Readonly<Record<Look, string>> = {
  unseen: "screen, never asked for before",
  screen: "screen",
  paint: "attach with paint",
  glance: "glance",
  logs: `\`reins logs --tail ${LAST_LINES}\``,
};

interface Printed {
  readonly session_id: SessionId;
  readonly mb: number;
}

const run = promisify(execFile);

/** A session that has printed more and more, seen for the first time by a gateway that has just started. */
export async function measureGrowthHistory(options: RowOptions): Promise<Row[]> {
  await using gateway = await openTempGateway();
  const client = createClient({ url: gateway.url, token: gateway.token });
  // What draws is loaded by whoever asks first.
  await measuresOf(gateway, client, await print(gateway, LEAST_MB)).screen();
  const found: { printed: Printed; times: Record<Look, number[]> }[] = [];
  for (const mb of new Set(SIZES_MB.map((size) => scaled(size, options)))) {
    const printed = await print(gateway, mb);
    const unseen = await timed(measuresOf(gateway, client, printed).screen);
    const times = { unseen: [unseen], screen: [], paint: [], glance: [], logs: [] };
    found.push({ printed, times });
  }
  for (let round = 0; round < options.runs; round += 1)
    for (const { printed, times } of found) {
      await gateway.restart();
      // The way to the host is made by whoever comes first.
      await client.call("session.get", { session_id: printed.session_id });
      const measures = measuresOf(gateway, client, printed);
      for (const look of looks) times[look].push(await timed(measures[look]));
    }
  const first = found[0]?.times;
  return found.flatMap(({ printed, times }) =>
    (["unseen", ...looks] as const).map((look) =>
      describe(printed.mb, look, { found: times[look], first: first?.[look] }),
    ),
  );
}

function describe(
  mb: number,
  look: Look,
  {
    found,
    first = found,
  }: { readonly found: readonly number[]; readonly first?: readonly number[] | undefined },
): Row {
  const y = median(found);
  return {
    what: `growth: ${mb} MB printed, ${named[look]}`,
    measured: `${y.toFixed(1)} ms`,
    against: `the shortest history: ${median(first).toFixed(1)} ms`,
    ratio: y / median(first),
    points: [{ plot: "history-time", series: named[look].replaceAll("`", ""), x: mb, y }],
  };
}

async function print(gateway: TempGateway, mb: number): Promise<Printed> {
  const lines = Math.ceil((mb * MB) / (LINE_CHARS + 1));
  const script = `yes ${"a".repeat(LINE_CHARS)} | head -n ${lines}; exec sleep infinity`;
  const id = await gateway.create({ kind: "terminal", argv: ["/bin/sh", "-c", script] });
  // The terminal puts a carriage return before each line feed.
  const tail = lines * (LINE_CHARS + 2);
  // Ids are branded where they are made.
  const session_id = id as SessionId;
  using watch = await gateway.host.client.watch(session_id);
  await watch.until((seen) => seen.tail >= tail);
  return { session_id, mb };
}

function measuresOf(
  gateway: TempGateway,
  client: Client,
  { session_id }: Printed,
): Record<(typeof looks)[number], () => Promise<unknown>> {
  const last = String(LAST_LINES);
  const env = { ...process.env, REINS_HOME: gateway.host.dir.path };
  return {
    screen: () => client.call("session.screen", { session_id }),
    paint: () => paint(gateway, session_id),
    glance: () => client.call("session.glances", { session_ids: [session_id] }),
    logs: () => run(process.execPath, [reinsPath, "logs", "--tail", last, session_id], { env }),
  };
}

/** From the connection to the screen in the hands of the client. */
async function paint(gateway: TempGateway, sessionId: string): Promise<void> {
  const socket = new WebSocket(gateway.attachUrl(sessionId, "since=tail&paint=1"), {
    headers: { Authorization: `Bearer ${gateway.token}` },
    perMessageDeflate: false,
  });
  const signal = AbortSignal.timeout(PAINT_MS);
  try {
    for (;;) {
      const [message] = await once(socket, "message", { signal });
      if (JSON.parse(String(message)).type === "screen") return;
    }
  } finally {
    socket.terminate();
  }
}

async function timed(look: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await look();
  return performance.now() - started;
}
