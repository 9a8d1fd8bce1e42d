/** Every plot of docs/benchmarks: what it shows and in which unit. */
export interface PlotSpec {
  readonly title: string;
  readonly kind: "bars" | "lines";
  readonly x: string;
  readonly y: string;
}

export const plots = {
  "peers-speed": {
    title: "Text through an attached client",
    ...{ kind: "bars", x: "", y: "MB/s" },
  },
  "peers-echo": {
    title: "A key to its echo at an attached client, p50",
    ...{ kind: "bars", x: "", y: "ms" },
  },
  "peers-memory": {
    title: "Memory for each idle session",
    ...{ kind: "bars", x: "", y: "KiB" },
  },
  "sessions-time": {
    title: "Create and list, by live sessions",
    ...{ kind: "lines", x: "sessions", y: "ms" },
  },
  "sessions-memory": {
    title: "Memory of host and gateway, by live sessions",
    ...{ kind: "lines", x: "sessions", y: "MiB" },
  },
  "viewers-cost": {
    title: "Gateway's processor time for each delivered byte, by viewers",
    ...{ kind: "lines", x: "viewers", y: "ns" },
  },
  "viewers-echo": {
    title: "Echo in another session, by viewers",
    ...{ kind: "lines", x: "viewers", y: "ms" },
  },
  "history-time": {
    title: "First look at a session, by what it has printed",
    ...{ kind: "lines", x: "MB", y: "ms" },
  },
  "agents-memory": {
    title: "Memory of a worker, by agents",
    ...{ kind: "lines", x: "agents", y: "MiB" },
  },
  "agents-first-event": {
    title: "Message to first event, by agents",
    ...{ kind: "lines", x: "agents", y: "ms" },
  },
} as const satisfies Readonly<Record<string, PlotSpec>>;

export type PlotName = keyof typeof plots;
