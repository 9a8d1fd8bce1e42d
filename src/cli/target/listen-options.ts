import { Fault } from "#contract/fault.ts";

/** Of `reins run`: where the run alone is served. */
export const listenOptions = {
  listen: { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "allow-insecure": { type: "boolean" },
} as const;
export const LISTEN_VALUED = ["--listen", "--tls-cert", "--tls-key"];

type Flags = {
  readonly [N in keyof typeof listenOptions]?:
    | ((typeof listenOptions)[N]["type"] extends "string" ? string : boolean)
    | undefined;
};
export type ListenFlags = Flags & { readonly listen: string };

/** Undefined when nobody asked for it; those that only mean something beside `--listen` are refused without it. */
export function pickListenFlags(values: Flags): ListenFlags | undefined {
  const { listen } = values;
  if (listen !== undefined) return { ...values, listen };
  const alone = Object.keys(listenOptions).find((name) => Object.hasOwn(values, name));
  if (alone === undefined) return undefined;
  throw new Fault("invalid_request", `--${alone} is for --listen, which is missing`);
}
