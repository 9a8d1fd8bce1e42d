import type { Who } from "#app/caller.ts";
import type { Gateway } from "#app/gateway.ts";
import type { Document } from "#contract/operations.ts";

interface Count {
  requests: number;
  ms: number;
}

/** What Prometheus reads, in its text format. Labels are names of our own tables, so their number is bounded. */
export class RequestCounts {
  readonly #counts = new Map<string, Count>();
  sockets = 0;
  sentBytes = 0;
  slowViewers = 0;

  add(operation: string, status: number, ms: number): void {
    const key = `operation="${operation}",status="${status}"`;
    const count = this.#counts.get(key) ?? { requests: 0, ms: 0 };
    this.#counts.set(key, { requests: count.requests + 1, ms: count.ms + ms });
  }

  /** Counts are of all workspaces, so a caller that sees some of them gets the figures of the machine alone. */
  async report(gateway: Gateway, caller: Pick<Who, "workspaces"> | undefined): Promise<Document> {
    const seesAll = caller?.workspaces === "*";
    const counts = seesAll ? [...this.#lines(), ...feedLines(gateway)] : [];
    const lines = [...counts, ...memoryLines(), ...(await hostLines(gateway, seesAll))];
    const text = lines.join("\n");
    return { media_type: "text/plain; version=0.0.4", body: once(`${text}\n`) };
  }

  *#lines(): Generator<string> {
    yield* metric("reins_requests_total", "counter", "HTTP requests answered.");
    for (const [labels, { requests }] of this.#counts)
      yield `reins_requests_total{${labels}} ${requests}`;
    yield* metric("reins_request_seconds_total", "counter", "Time until answers began.");
    for (const [labels, { ms }] of this.#counts)
      yield `reins_request_seconds_total{${labels}} ${ms / 1000}`;
    yield* metric("reins_sockets", "gauge", "WebSockets that are open.");
    yield `reins_sockets ${this.sockets}`;
    yield* metric("reins_sent_bytes_total", "counter", "Output sent over WebSockets.");
    yield `reins_sent_bytes_total ${this.sentBytes}`;
    yield* metric("reins_slow_viewers_total", "counter", "Viewers cut off for not reading.");
    yield `reins_slow_viewers_total ${this.slowViewers}`;
  }
}

function memoryLines(): string[] {
  return [
    ...metric("reins_gateway_memory_bytes", "gauge", "Resident memory of the gateway."),
    `reins_gateway_memory_bytes ${process.memoryUsage.rss()}`,
  ];
}

function feedLines({ hosts }: Gateway): string[] {
  return [
    ...metric("reins_feeds", "gauge", "Sessions that somebody follows."),
    `reins_feeds ${hosts.all()[0].followed}`,
  ];
}

async function hostLines(gateway: Gateway, seesAll: boolean): Promise<string[]> {
  const host = await gateway.hostHealth();
  if (host === undefined)
    return [...metric("reins_host_up", "gauge", "Host answers."), "reins_host_up 0"];
  const counts: readonly Gauge[] = [
    ["reins_sessions", "Sessions with a log.", host.sessions],
    ["reins_sessions_live", "Sessions that run.", host.live],
    ["reins_host_descriptors", "Open descriptors of the host.", host.descriptors],
    ["reins_host_errors", "Errors that the host contained.", host.errors],
    ["reins_host_log_faults", "Sessions whose log cannot be written.", host.log_faults],
  ];
  const gauges: readonly Gauge[] = [
    ["reins_host_up", "Host answers.", 1],
    ...(seesAll ? counts : []),
    ["reins_sessions_live_cap", "Sessions that may run at once.", host.live_cap],
    ["reins_host_memory_bytes", "Resident memory of the host.", host.memory_bytes],
    ["reins_disk_free_bytes", "Free disk below the data directory.", host.free_disk_bytes],
  ];
  return gauges.flatMap(([name, help, value]) =>
    value === null ? [] : [...metric(name, "gauge", help), `${name} ${value}`],
  );
}

type Gauge = readonly [name: string, help: string, value: number | null];

function metric(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
