import type { Random } from "#test/harness/random.ts";

/**
 * What a command of a run prints: line n says n and a number that is made of n and the stream's seed, so that the byte
 * at any offset can be told without having seen the one before. A session's argv is all that is needed to know it.
 */
export interface StreamPlan {
  readonly kind: "terminal" | "command";
  readonly seed: number;
  readonly lines: number;
  readonly block: number;
  readonly pause_ms: number;
  /** From 128 on: the signal that it ends itself by. */
  readonly exit_code: number;
  /** 2: the same number of lines on stderr, of the next seed. */
  readonly channels: number;
}

const FACTOR = 2654435761;
/** Without the end of the line: `seed number check`. */
const TEXT_BYTES = 26;
const SIGNALS = 128;
const endings = [0, 0, 1, 3, 42, 137, 143];

const SCRIPT = `
s=$1 lines=$2 block=$3 pause=$4 code=$5 channels=$6 n=0
while ((n < lines)); do
  out= err= i=0
  ((n > 0)) && sleep $pause
  for ((; i < block && n < lines; i++, n++)); do
    printf -v line '%08x %08d %08x\\n' $s $n $(((n * ${FACTOR} + s) & 0xffffffff)); out+=$line
    ((channels > 1)) && { printf -v line '%08x %08d %08x\\n' $((s + 1)) $n $(((n * ${FACTOR} + s + 1) & 0xffffffff)); err+=$line; }
  done
  printf %s "$out"
  ((channels > 1)) && printf %s "$err" >&2
done
((code > ${SIGNALS})) && kill -$((code - ${SIGNALS})) $$
exit $code
`;

export function choosePlan(random: Random): StreamPlan {
  const kind = random.below(2) === 0 ? "terminal" : "command";
  const pause_ms = random.between(20, 200);
  const blocks = Math.ceil(random.between(1500, 7000) / pause_ms);
  const block = random.between(1, 400);
  return {
    kind,
    seed: random.below(2 ** 31),
    block,
    lines: blocks * block - random.below(block),
    pause_ms,
    exit_code: endings[random.below(endings.length)] ?? 0,
    channels: kind === "command" && random.below(3) === 0 ? 2 : 1,
  };
}

export function argvOf(plan: StreamPlan, run: string): string[] {
  const { seed, lines, block, pause_ms, exit_code, channels } = plan;
  const words = [seed, lines, block, (pause_ms / 1000).toFixed(3), exit_code, channels];
  return ["/bin/bash", "--norc", "-c", SCRIPT, run, ...words.map(String)];
}

/** Of everything that it prints, on all channels. */
export function totalBytes(plan: StreamPlan): number {
  return plan.lines * lineBytes(plan) * plan.channels;
}

/** The bytes of one channel from one place in that channel to another. */
export function bytesOf(
  plan: StreamPlan,
  channel: "stdout" | "stderr",
  { from, to }: { readonly from: number; readonly to: number },
): Buffer {
  const size = lineBytes(plan);
  const seed = channel === "stderr" ? plan.seed + 1 : plan.seed;
  const end = plan.kind === "terminal" ? "\r\n" : "\n";
  const first = Math.floor(from / size);
  const last = Math.min(plan.lines, Math.ceil(to / size));
  let text = "";
  for (let line = first; line < last; line += 1) text += lineOf(seed, line) + end;
  return Buffer.from(text, "latin1").subarray(from - first * size, to - first * size);
}

function lineBytes({ kind }: StreamPlan): number {
  return TEXT_BYTES + (kind === "terminal" ? 2 : 1);
}

function lineOf(seed: number, line: number): string {
  const check = (Math.imul(line, FACTOR) + seed) >>> 0;
  return `${hex(seed)} ${String(line).padStart(8, "0")} ${hex(check)}`;
}

function hex(value: number): string {
  return value.toString(16).padStart(8, "0");
}
