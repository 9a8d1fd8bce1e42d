import { resolve } from "node:path";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import { findModelFailure } from "#model/failure.ts";
import type { Model, ModelChoice, ModelChunk, ModelRequest, Models } from "#model/model.ts";
import { parseScript, type Script } from "#model/script.ts";
import { createEchoModel, createScriptedModel } from "#model/scripted.ts";
import { createSdkModel } from "#model/sdk/sdk-model.ts";
import { getBaseUrl, getKey, getSource, type ModelFiles, type ModelSource } from "#model/source.ts";
import { ModelChain } from "./chain.ts";

/** Chains are kept because they remember failures; beyond this number the oldest is dropped. */
const CHAINS_KEPT = 200;

export interface OpenModelsDeps extends ModelFiles {
  /** Environment variable → key, or the address of a provider; the only place where they come from. */
  readonly keys: Readonly<Record<string, string>>;
  /** What a `script_file` is relative to. */
  readonly base_dir: string;
  /** Reads a script file by its absolute path. */
  readonly scripts: (path: string) => string;
  readonly clock: Clock;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

/** The models of one team. Disposing ends every request that is under way. */
export function openModels(deps: OpenModelsDeps): Models & Disposable {
  const closed = new AbortController();
  const models = new Map<string, Model>();
  const chains = new BoundedMap<string, Model>(CHAINS_KEPT);

  const get = (reference: string): Model => {
    const known = models.get(reference);
    if (known !== undefined) return known;
    const model = endWith(createModel(getSource(deps, reference), deps), closed.signal);
    models.set(reference, model);
    return model;
  };

  const chain = (choice: ModelChoice): Model => {
    const { model, fallbacks, retries, cooldown_ms } = choice;
    const key = JSON.stringify([model, fallbacks, retries, cooldown_ms]);
    const known = chains.get(key);
    if (known !== undefined) return known;
    const [primary, ...others] = [model, ...fallbacks].map((each) => getOrRefuse(get, deps, each));
    if (primary === undefined) throw new Error("a chain has at least one model");
    const opened = new ModelChain({
      models: [primary, ...others],
      retries,
      cooldown_ms,
      clock: deps.clock,
      random: deps.random ?? Math.random,
    });
    // The only one there is, without its key: better said now than in the first turn.
    if (others.length === 0) get(model);
    chains.set(key, opened);
    return opened;
  };

  return { get, chain, [Symbol.dispose]: () => closed.abort(closedReason()) };
}

function createModel(source: ModelSource, deps: OpenModelsDeps): Model {
  if (source.api === "scripted") return createScripted(source, deps);
  const base_url = getBaseUrl(source, deps.keys);
  return createSdkModel(
    { ...source, base_url },
    {
      key: getKey(source, deps.keys),
      fetch: deps.fetch ?? globalThis.fetch,
      clock: deps.clock,
    },
  );
}

function createScripted(source: ModelSource, deps: OpenModelsDeps): Model {
  const { context_limit, cost: price } = source.config;
  const scripted = { id: source.id, clock: deps.clock, context_limit, price };
  const script = findScript(source, deps);
  return script === undefined ? createEchoModel(scripted) : createScriptedModel(script, scripted);
}

function findScript({ config }: ModelSource, deps: OpenModelsDeps): Script | undefined {
  if (config.script !== undefined) return config.script;
  if (config.script_file === undefined) return undefined;
  return parseScript(deps.scripts(resolve(deps.base_dir, config.script_file)), config.script_file);
}

/** One of several may lack its key: it fails in its turn, and the next one answers. Its key may still come. */
function getOrRefuse(get: Models["get"], files: ModelFiles, reference: string): Model {
  try {
    return get(reference);
  } catch (error) {
    if (findModelFailure(error)?.cause !== "auth") throw error;
    return {
      id: getSource(files, reference).id,
      context_limit: null,
      supports_images: false,
      stream: (request, options) => askAnew(get, reference, { request, ...options }),
    };
  }
}

async function* askAnew(
  get: Models["get"],
  reference: string,
  { request, signal }: { readonly request: ModelRequest; readonly signal: AbortSignal },
): AsyncGenerator<ModelChunk> {
  yield* get(reference).stream(request, { signal });
}

function endWith(model: Model, closed: AbortSignal): Model {
  return {
    ...model,
    stream: (request, { signal }) =>
      model.stream(request, { signal: AbortSignal.any([signal, closed]) }),
  };
}

function closedReason(): Fault {
  return new Fault("shutting_down", "the agent is ending");
}
