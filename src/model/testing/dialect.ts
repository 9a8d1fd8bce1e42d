import type { ProviderConfig } from "#model/config.ts";

/** What a provider's server says, before it is put into the provider's own words. */
export interface Answer {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly {
    readonly id: string;
    readonly tool: string;
    /** The pieces of the arguments. */
    readonly raw: readonly string[];
  }[];
  readonly stop?: "stop" | "length" | "tool_calls";
}

/** Every answer costs the same: 100 tokens in, 40 of them cached, 30 out, 10 of them reasoning. */
export const answerUsage = { input: 100, cached: 40, output: 30, reasoning: 10 };

/** A stream in a provider's own words. */
export type Format = Pick<Dialect, "stream" | "error" | "overflow">;

/** One of the formats that providers stream in. */
export interface Dialect {
  readonly name: string;
  /** As `provider/model`. */
  readonly reference: string;
  readonly provider: ProviderConfig;
  /** Below the server's address. */
  readonly base_path: string;
  readonly path: string;
  /** The whole stream, an event a string. */
  stream(answer: Answer): readonly string[];
  /** An error's body. */
  error(message: string, kind: { readonly type: string; readonly status: number }): string;
  readonly overflow: { readonly status: number; readonly body: string };
}
