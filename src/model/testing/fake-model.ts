import { createModelFault, type ModelFailure } from "#model/failure.ts";
import type { Model, ModelChunk } from "#model/model.ts";

type Play =
  | string
  | Omit<ModelFailure, "model">
  | { readonly says: string; readonly fails: ModelFailure["cause"] };

export interface FakeModel extends Model {
  /** How often it was asked. */
  readonly asked: () => number;
}

/** A model that answers or fails as told, once each; the last thing again and again. */
export function createFakeModel(id: string, ...plays: readonly [Play, ...Play[]]): FakeModel {
  let asked = 0;
  return {
    id,
    context_limit: null,
    supports_images: false,
    asked: () => asked,
    stream: (_request, { signal }) => {
      const play = plays[Math.min(asked, plays.length - 1)] ?? "";
      asked += 1;
      return answer(id, { play, signal });
    },
  };
}

async function* answer(
  id: string,
  { play, signal }: { readonly play: Play; readonly signal: AbortSignal },
): AsyncGenerator<ModelChunk> {
  signal.throwIfAborted();
  if (typeof play !== "string" && "cause" in play) {
    throw createModelFault({ ...play, model: id }, `it is ${play.cause}`);
  }
  yield { type: "text_delta", text: typeof play === "string" ? play : play.says };
  if (typeof play !== "string") {
    throw createModelFault({ cause: play.fails, model: id }, `it is ${play.fails}`);
  }
  const usage = { input_tokens: 1, output_tokens: 1, cost: 0 };
  yield { type: "finish", model: id, stop_reason: "stop", usage };
}
