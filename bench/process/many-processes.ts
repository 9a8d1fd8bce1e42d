import { openTempGateway } from "#bench/gateway/temp-gateway.ts";
import { countDescriptors, readMemory } from "#bench/lib/process-facts.ts";
import { median, percentile } from "#bench/lib/statistics.ts";
import { openExecutor } from "./executor.ts";

export interface ManyProcesses {
  readonly said: string;
  readonly wrong: readonly string[];
}

const AT_ONCE = 200;
const GB = 1e9;

/** 200 at once and many one after the other: every exit code right, and nothing grows. */
export async function runManyProcesses(inSequence: number): Promise<ManyProcesses> {
  await using gateway = await openTempGateway();
  using executor = openExecutor(gateway);
  const wrong: string[] = [];
  const check = async (code: number) => {
    const result = await executor.execute({
      command: `echo ${code}; exit ${code}`,
      timeout: "120s",
    });
    if (result.exit_code !== code || result.output !== `${code}\n`)
      wrong.push(`exit ${code}: ${JSON.stringify(result)}`);
  };
  const { pid } = gateway.host;
  const sizes = () => `${countDescriptors(pid)} descriptors, ${memoryOf(pid)} MB`;
  await check(7);
  const before = sizes();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => check(index % 100)));
  const between = sizes();
  for (let run = 0; run < inSequence; run += 1) await check(run % 100);
  const said = `${AT_ONCE} at once, ${inSequence} in sequence; host ${before}, then ${between}, then ${sizes()}`;
  return { said, wrong };
}

/** So many bytes through one command, while others are asked for. */
export async function runHugeOutput(bytes: number): Promise<ManyProcesses> {
  await using gateway = await openTempGateway();
  using executor = openExecutor(gateway);
  const wrong: string[] = [];
  const before = memoryOf(gateway.host.pid);
  const started = performance.now();
  const command = `yes 0123456789abcde | head -c ${bytes}; echo; echo the last line`;
  const running = executor.execute({ command, timeout: "1h" });
  const latencies: number[] = [];
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const asked = performance.now();
    await executor.get("/v1/health");
    latencies.push(performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const result = await running;
  const seconds = (performance.now() - started) / 1000;
  const { original_bytes = 0 } = result.truncated ?? {};
  if (result.exit_code !== 0) wrong.push(`exit code ${result.exit_code}`);
  if (!result.output.endsWith("the last line\n")) wrong.push("the last line is missing");
  if (original_bytes !== bytes + "\nthe last line\n".length)
    wrong.push(`${original_bytes} bytes counted`);
  const after = memoryOf(gateway.host.pid);
  const other = `other calls p50 ${median(latencies).toFixed(1)}, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`;
  const said = `${(bytes / GB).toFixed(1)} GB in ${seconds.toFixed(0)} s (${(bytes / 1e6 / seconds).toFixed(0)} MB/s), host ${before} then ${after} MB, ${other}`;
  return { said, wrong };
}

function memoryOf(pid: number): number {
  return Math.round(readMemory(pid).rss_kib / 1024);
}
