import { parseArgs } from "node:util";
import { measureAgentFirstEvent } from "./agent/row-agent-first-event.ts";
import { measureAgentOpen } from "./agent/row-agent-open.ts";
import { measureAgentStart } from "./agent/row-agent-start.ts";
import { measureAgents100 } from "./agent/row-agents-100.ts";
import { measureEcho } from "./gateway/row-echo.ts";
import { measureGatewayMemory } from "./gateway/row-gateway-memory.ts";
import { measureOutput } from "./gateway/row-output.ts";
import { measureReattach } from "./gateway/row-reattach.ts";
import { measureReplayWs } from "./gateway/row-replay-ws.ts";
import { measureViewers } from "./gateway/row-viewers.ts";
import { measureWs } from "./gateway/row-ws.ts";
import { measureGrowthAgents } from "./growth/row-growth-agents.ts";
import { measureGrowthHistory } from "./growth/row-growth-history.ts";
import { measureGrowthSessions } from "./growth/row-growth-sessions.ts";
import { describeMachine, sayMachine } from "./machine.ts";
import { measurePage } from "./page/row-page.ts";
import { measurePeers } from "./peers/row-peers.ts";
import { measureExecute } from "./process/row-execute.ts";
import { choose, readNumber, runProgram } from "./program.ts";
import { type Section, writeReport } from "./report/report.ts";
import { judge, type Row, type RowOptions, renderRows } from "./row.ts";
import { measureClose } from "./row-close.ts";
import { measureColdStart } from "./row-cold-start.ts";
import { measureIdleMemory } from "./row-idle-memory.ts";
import { measureOpenLatency } from "./row-open-latency.ts";
import { measurePtyToLog } from "./row-pty-to-log.ts";
import { measureReplay } from "./row-replay.ts";

type Measure = (options: RowOptions) => Promise<Row[]>;

const rows: Readonly<Record<string, Measure>> = {
  "pty-to-log": measurePtyToLog,
  "idle-memory": measureIdleMemory,
  "open-latency": measureOpenLatency,
  replay: measureReplay,
  close: measureClose,
  "cold-start": measureColdStart,
  ws: measureWs,
  echo: measureEcho,
  "replay-ws": measureReplayWs,
  output: measureOutput,
  viewers: measureViewers,
  "gateway-memory": measureGatewayMemory,
  reattach: measureReattach,
  execute: measureExecute,
  "agent-start": measureAgentStart,
  "agent-first-event": measureAgentFirstEvent,
  "agent-open": measureAgentOpen,
  "agents-100": measureAgents100,
  page: measurePage,
  peers: measurePeers,
  "growth-sessions": measureGrowthSessions,
  "growth-history": measureGrowthHistory,
  "growth-agents": measureGrowthAgents,
};

const DEFAULT_RUNS = 7;

const USAGE = `npm run bench: the ratios that speed is judged by, each against a baseline of the same run.
  --only NAME   one row (again for more)
  --runs N      default ${DEFAULT_RUNS}
  --seconds N   of the viewer that never reads, default 20, and of the agents that speak, default 10
  --scale N     that part of the size of the rows that are as big as one likes, for a try
  --json        for programs
  --write       docs/benchmarks.md
GATEWAY_NODE_ARGS are for the Node of the gateways that it starts, such as --cpu-prof --cpu-prof-dir /tmp.`;

interface Found {
  readonly sections: Record<string, Section>;
  readonly failed: string[];
}

/** One that does not run must not hide the others. */
async function measureAll(
  chosen: readonly (readonly [name: string, measure: Measure])[],
  options: RowOptions,
): Promise<Found> {
  const machine = describeMachine();
  const how = sayHow(options);
  const is_try = options.runs < DEFAULT_RUNS || (options.scale ?? 1) < 1;
  const found: Found = { sections: {}, failed: [] };
  for (const [name, measure] of chosen) {
    process.stderr.write(`${name} ...\n`);
    try {
      const measured = await measure(options);
      found.sections[name] = { machine, how, is_try, rows: measured };
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
      found.failed.push(name);
    }
  }
  return found;
}

function sayHow({ runs, scale = 1 }: RowOptions): string {
  const part = scale === 1 ? "" : ` A try: growing sizes are ${scale} of the full ones.`;
  const few = runs < DEFAULT_RUNS ? ` Fewer than the ${DEFAULT_RUNS} that count.` : "";
  return `Medians of ${runs} interleaved runs.${few}${part}`;
}

await runProgram(USAGE, async () => {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      runs: { type: "string" },
      seconds: { type: "string" },
      scale: { type: "string" },
      json: { type: "boolean" },
      write: { type: "boolean" },
    },
  });
  const chosen = choose(values.only, rows);
  const options = {
    runs: readNumber("runs", values.runs ?? `${DEFAULT_RUNS}`),
    scale: readNumber("scale", values.scale ?? "1"),
    ...(values.seconds === undefined ? {} : { seconds: readNumber("seconds", values.seconds) }),
  };
  const machine = describeMachine();
  const { sections, failed } = await measureAll(chosen, options);
  const found = Object.values(sections).flatMap(({ rows: held = [] }) => held);
  const judged = found.map((row) => ({ ...row, verdict: judge(row) }));
  const { runs, scale } = options;
  process.stdout.write(
    values.json === true
      ? `${JSON.stringify({ machine, runs, scale, rows: judged, failed }, undefined, 2)}\n`
      : `${sayMachine(machine)}\n${sayHow(options)}\n\n${renderRows(found)}`,
  );
  if (values.write === true) writeReport({ bench: sections });
  return failed.length === 0 ? 0 : 1;
});
