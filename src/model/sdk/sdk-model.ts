import { addAbortListener } from "node:events";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Clock } from "#base/clock.ts";
import { findInCatalog, type Price } from "#model/catalog.ts";
import { createModelFault } from "#model/failure.ts";
import type { Model, ModelChunk, ModelRequest } from "#model/model.ts";
import { orAbort } from "#model/or-abort.ts";
import type { ModelSource } from "#model/source.ts";
import { toCallOptions } from "./call-options.ts";
import { ChunkReader } from "./chunks.ts";
import { toFault } from "./failures.ts";
import { loadLanguageModel } from "./load-language-model.ts";
import { Silence } from "./silence.ts";

interface SdkDeps {
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

/** A provider's model behind our port. Each answer is one HTTP request; it ends when its reader does. */
export function createSdkModel(source: ModelSource, deps: SdkDeps): Model {
  const known = findInCatalog(source.provider, source.model);
  const price = source.config.cost ?? known?.price;
  return {
    id: source.id,
    context_limit: source.config.context_limit ?? known?.context_limit ?? null,
    supports_images: source.config.images ?? showsImages(source),
    stream: (request, { signal }) => stream({ source, deps, price, request, signal }),
  };
}

/** Most local models are blind, and refuse what they cannot see. */
function showsImages(source: ModelSource): boolean {
  return ["openai", "anthropic", "google"].includes(source.provider);
}

interface Call {
  readonly source: ModelSource;
  readonly deps: SdkDeps;
  readonly price: Price | undefined;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
}

async function* stream(call: Call): AsyncGenerator<ModelChunk> {
  const { source, deps, signal } = call;
  signal.throwIfAborted();
  const connection = new AbortController();
  using _abort = addAbortListener(signal, () => connection.abort(signal.reason));
  let isTooLate = false;
  using silence = new Silence({
    clock: deps.clock,
    tooLong: () => {
      isTooLate = true;
      connection.abort();
    },
  });
  try {
    yield* readAnswer(call, { silence, signal: connection.signal });
  } catch (error) {
    signal.throwIfAborted();
    if (isTooLate) {
      throw createModelFault(
        { cause: "timeout", model: source.id },
        "the provider has said nothing for too long",
      );
    }
    throw toFault(error, {
      model: source.id,
      secrets: deps.key === undefined ? [] : [deps.key],
      now: deps.clock.now(),
    });
  } finally {
    // Also when the reader went away in the middle.
    connection.abort();
  }
}

async function* readAnswer(
  { source, deps, price, request }: Call,
  { silence, signal }: { readonly silence: Silence; readonly signal: AbortSignal },
): AsyncGenerator<ModelChunk> {
  const chunks = new ChunkReader({ model: source.id, price });
  const fetch = silence.listen(deps.fetch);
  const model = await loadLanguageModel(source, { key: deps.key, fetch });
  const options = { ...toCallOptions(request, source), abortSignal: signal };
  const answer = await silence.during(() => orAbort(model.doStream(options), signal));
  const reader = answer.stream.getReader();
  while (true) {
    const { done, value } = await silence.during(() => orAbort(reader.read(), signal));
    if (done) throw new BrokenOff();
    if (value.type === "error") throw value.error;
    if (isBrokenOff(value)) throw new BrokenOff();
    yield* chunks.read(value);
    if (value.type === "finish") return;
  }
}

function isBrokenOff(part: LanguageModelV4StreamPart): boolean {
  return part.type === "finish" && part.finishReason.unified === "interrupted";
}

class BrokenOff extends Error {
  constructor() {
    super("the answer was terminated in the middle");
  }
}
