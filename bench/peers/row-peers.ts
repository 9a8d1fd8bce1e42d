import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SampleText, writeSampleText } from "#bench/lib/sample-text.ts";
import { interleave, median, pairedRatios, percentile } from "#bench/lib/statistics.ts";
import { openTempDir } from "#bench/lib/temp-dir.ts";
import { type Row, type RowOptions, scaled } from "#bench/row.ts";
import { openMultiplexers } from "./multiplexers.ts";
import { openReins, type Peer } from "./peer.ts";
import { openTerminalClient, type TerminalClient } from "./terminal-client.ts";

const BYTES = 64 * 1024 * 1024;
const IDLE = 200;
/** A page more or less is no longer seen in what each of so many costs. */
const FEWEST_IDLE = 20;
const KEYS = 300;
/** A client's first keys take several times as long as the others. They are typed and not counted. */
const WARM_UP_KEYS = 60;
const FEWEST_KEYS = 120;
const letters = "abcdefghijklmnopqrstuvwxyz";
/** Fewer than a terminal is wide, so that no line is wrapped. */
const KEYS_PER_LINE = 60;
const SETTLE_MS = 100;
const IDLE_SETTLE_MS = 2000;
/** One round is one moment of the machine for each: a key takes so little that another moment changes the order. */
const FEWEST_ECHO_ROUNDS = 5;
const MB = 1e6;
const MIB = 2 ** 20;
/** Not in the sample text. */
const READY = "READY";
const END = "THE-END";

type Attach = (argv: readonly string[]) => Promise<TerminalClient>;

/**
 * Reins beside the programs that people use for the same, each with the client that it comes with on a terminal of
 * ours. tmux and screen send what the screen looks like, not what was printed: the time is that until the end shows.
 */
export async function measurePeers(options: RowOptions): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const peers = [await openReins(), ...openMultiplexers()];
  for (const peer of peers) stack.use(peer);
  const attaches = new Map<string, Attach>([["no multiplexer", attachNothing]]);
  for (const peer of peers) attaches.set(sayName(peer), peer.attach);
  return [
    ...(await measureSpeed(attaches, options)),
    ...(await measureEcho(attaches, options)),
    ...(await measureMemory(peers, options)),
  ];
}

/** The program itself on the terminal. */
async function attachNothing(argv: readonly string[]): Promise<TerminalClient> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  return openTerminalClient({ argv, env: { PATH, HOME: "/", TERM: "xterm-256color" } });
}

function sayName({ name, version }: Peer): string {
  return `${name} ${version}`.trim();
}

async function measureSpeed(
  attaches: ReadonlyMap<string, Attach>,
  options: RowOptions,
): Promise<Row[]> {
  await using dir = openTempDir();
  const text = writeSampleText(join(dir.path, "text"), scaled(BYTES, options));
  const speeds = await interleave(
    options.runs,
    mapAll(attaches, (attach) => () => printOnce(attach, text)),
  );
  const size = (text.pipe.bytes / MIB).toFixed(0);
  return compare(speeds, {
    what: `${size} MiB of text through an attached client, until its end shows`,
    say: (found) => `${median(found).toFixed(1)} MB/s`,
    plot: "peers-speed",
  });
}

/** MB/s of what the program printed. */
async function printOnce(attach: Attach, { path, pipe }: SampleText): Promise<number> {
  const script = `stty -echo; printf ${READY}; read go; cat ${path}; printf ${END}; read end`;
  await using client = await attach(["/bin/sh", "-c", script]);
  await client.until(READY);
  await sleep(SETTLE_MS);
  const ended = client.until(END);
  const started = performance.now();
  client.type("\n");
  return pipe.bytes / (((await ended) - started) / 1000) / MB;
}

async function measureEcho(
  attaches: ReadonlyMap<string, Attach>,
  options: RowOptions,
): Promise<Row[]> {
  const all = new Map<string, number[]>();
  const count = Math.max(FEWEST_KEYS, scaled(KEYS, options));
  const rounds = Math.max(FEWEST_ECHO_ROUNDS, options.runs);
  const middles = await interleave(
    rounds,
    mapAll(attaches, (attach, name) => async () => {
      const times = await typeKeys(attach, count);
      all.set(name, [...(all.get(name) ?? []), ...times]);
      return median(times);
    }),
  );
  const say = (found: readonly number[], name: string) => {
    const times = all.get(name) ?? [];
    return `p50 ${median(found).toFixed(3)}, p99 ${percentile(times, 0.99).toFixed(2)} ms`;
  };
  return compare(middles, {
    what: `a key to its echo at an attached client (${rounds} rounds)`,
    say,
    plot: "peers-echo",
  });
}

async function typeKeys(attach: Attach, count: number): Promise<number[]> {
  await using client = await attach(["/bin/sh", "-c", `printf ${READY}; exec cat`]);
  await client.until(READY);
  const times: number[] = [];
  for (let key = 0; key < WARM_UP_KEYS + count; key += 1) {
    if (key % KEYS_PER_LINE === 0) {
      client.type("\n");
      await sleep(SETTLE_MS);
    }
    // Unlike the one before it, whose echo would count if it came twice.
    const letter = letters.charAt(key % letters.length);
    const echoed = client.until(letter);
    const started = performance.now();
    client.type(letter);
    times.push((await echoed) - started);
  }
  return times.slice(WARM_UP_KEYS);
}

async function measureMemory(peers: readonly Peer[], options: RowOptions): Promise<Row[]> {
  const count = Math.max(FEWEST_IDLE, scaled(IDLE, options));
  const measures = new Map(peers.map((peer) => [sayName(peer), peer]));
  const found = await interleave(
    options.runs,
    mapAll(measures, (peer) => () => costOfIdle(peer, count)),
  );
  return compare(found, {
    what: `memory for each of ${count} idle terminals (anonymous, without the program inside)`,
    say: (costs) => `${median(costs).toFixed(0)} KiB`,
    plot: "peers-memory",
  });
}

/** What the first one starts for all of them is not the price of the others. */
async function costOfIdle(peer: Peer, count: number): Promise<number> {
  const idle = ["sleep", "infinity"];
  await peer.openIdle(idle);
  await sleep(IDLE_SETTLE_MS);
  const before = peer.memory();
  for (let opened = 0; opened < count; opened += 1) await peer.openIdle(idle);
  await sleep(IDLE_SETTLE_MS);
  const each = (peer.memory() - before) / count;
  await peer.endIdle();
  return each;
}

interface Compared {
  readonly what: string;
  readonly plot: "peers-speed" | "peers-echo" | "peers-memory";
  say(found: readonly number[], name: string): string;
}

/** A row for each but Reins, which is the first side of all of them. */
function compare(
  found: Readonly<Record<string, readonly number[]>>,
  { what, plot, say }: Compared,
): Row[] {
  const { reins = [], ...others } = found;
  const pointOf = (name: string, values: readonly number[]) => ({
    ...{ plot, series: plot, x: name, y: median(values) },
  });
  return Object.entries(others).map(([name, values], at) => ({
    what,
    measured: say(reins, "reins"),
    against: `${name}: ${say(values, name)}`,
    ratio: median(pairedRatios(reins, values)),
    points: [...(at === 0 ? [pointOf("reins", reins)] : []), pointOf(name, values)],
  }));
}

function mapAll<T>(
  all: ReadonlyMap<string, T>,
  measure: (one: T, name: string) => () => Promise<number>,
): Record<string, () => Promise<number>> {
  return Object.fromEntries([...all].map(([name, one]) => [name, measure(one, name)]));
}
