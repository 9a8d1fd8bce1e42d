import { type Clock, systemClock } from "#base/clock.ts";
import { type OpenModelsDeps, openModels } from "#model/chain/open-models.ts";
import type { ModelConfig } from "#model/config.ts";
import type { Model, ModelChunk, ModelRequest } from "#model/model.ts";
import type { Dialect } from "./dialect.ts";
import { keys } from "./dialects.ts";
import type { ProviderServer } from "./provider-server.ts";

export interface Asked {
  readonly chunks: readonly ModelChunk[];
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Extract<ModelChunk, { type: "call_end" }>[];
  readonly finish: Extract<ModelChunk, { type: "finish" }> | undefined;
  /** What it failed with. */
  readonly error: unknown;
}

/** Reads an answer to its end, or to its failure. */
export async function ask(
  model: Model,
  request: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Asked> {
  const chunks: ModelChunk[] = [];
  let error: unknown;
  try {
    for await (const chunk of model.stream(toRequest(request), { signal })) {
      if (chunk.type === "retry") chunks.length = 0;
      chunks.push(chunk);
    }
  } catch (thrown) {
    error = thrown;
  }
  const pick = <T extends ModelChunk["type"]>(type: T) =>
    chunks.filter((chunk): chunk is Extract<ModelChunk, { type: T }> => chunk.type === type);
  return {
    chunks,
    text: pick("text_delta")
      .map((chunk) => chunk.text)
      .join(""),
    reasoning: pick("reasoning_delta")
      .map((chunk) => chunk.text)
      .join(""),
    calls: pick("call_end"),
    finish: pick("finish")[0],
    error,
  };
}

export function toRequest(request: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: [user("hello")], tools: [], ...request };
}

export function user(text: string): ModelRequest["messages"][number] {
  return { role: "user", content: [{ type: "text", text }] };
}

/** The models of a team file without anything in it. */
export function openTestModels(deps: Partial<OpenModelsDeps> = {}) {
  return openModels({
    models: {},
    providers: {},
    keys: {},
    base_dir: "/team",
    scripts: (path) => {
      throw new Error(`no script ${path}`);
    },
    clock: systemClock,
    random: () => 0.5,
    ...deps,
  });
}

/** A model of a provider that is played by a server. */
export function openDialectModel(
  dialect: Dialect,
  server: ProviderServer,
  {
    config = {},
    clock = systemClock,
  }: { readonly config?: Partial<ModelConfig>; readonly clock?: Clock } = {},
): Model {
  const [provider = "", ...model] = dialect.reference.split("/");
  return openTestModels({
    models: { it: { provider, model: model.join("/"), ...config } },
    providers: {
      [provider]: { ...dialect.provider, base_url: `${server.url}${dialect.base_path}` },
    },
    keys,
    clock,
  }).get("it");
}
