import { defined } from "#contract/values/defined.ts";
import type { Cost } from "./config.ts";

/** What is known of a model without asking anybody. */
interface CatalogEntry {
  readonly context_limit: number;
  readonly price: Price;
}

/** US dollars for a million tokens. */
export interface Price extends Cost {
  /** What is put into the provider's cache; absent = as much as other input. */
  readonly cache_write?: number;
  /** A prompt beyond so many tokens has other prices, for all of it. */
  readonly long?: LongPrice;
}

interface LongPrice {
  readonly beyond_tokens: number;
  readonly price: Cost;
}

interface TokenCounts {
  /** All of the prompt, cached or not. */
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

const MILLION = 1_000_000;
/** Anthropic asks a quarter more for what it puts into its cache. */
const ANTHROPIC_CACHE_WRITE = 1.25;

/** Dated snapshots (`-20251001`, `-2025-08-07`) and `-preview` are the model itself. */
export function findInCatalog(provider: string, model: string): CatalogEntry | undefined {
  const plain = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "").replace(/-preview$/, "");
  const models = Object.hasOwn(catalog, provider) ? catalog[provider] : undefined;
  const row = models !== undefined && Object.hasOwn(models, plain) ? models[plain] : undefined;
  if (row === undefined) return undefined;
  const [context_limit, input, output, cached_input, long] = row;
  const price = { input, output, cached_input };
  return {
    context_limit,
    price: {
      ...price,
      ...(provider === "anthropic" ? { cache_write: input * ANTHROPIC_CACHE_WRITE } : {}),
      ...defined({ long }),
    },
  };
}

export function costOf(price: Price, tokens: TokenCounts): number {
  const isLong = price.long !== undefined && tokens.input > price.long.beyond_tokens;
  const { input, output, cached_input = input } = isLong && price.long ? price.long.price : price;
  const written = isLong ? input : (price.cache_write ?? input);
  const plain = Math.max(0, tokens.input - tokens.cached - tokens.written);
  const sum =
    plain * input +
    tokens.cached * cached_input +
    tokens.written * written +
    tokens.output * output;
  return sum / MILLION;
}

type Row = readonly [
  context: number,
  input: number,
  output: number,
  cached: number,
  long?: LongPrice,
];

function beyond(beyond_tokens: number, input: number, output: number): LongPrice {
  // Cached input is a tenth wherever a price depends on the length.
  return { beyond_tokens, price: { input, output, cached_input: input / 10 } };
}

/** List prices of late 2026. What is not here has no price, unless the team file gives one. */
const catalog: Readonly<Record<string, Readonly<Record<string, Row | undefined>>>> = {
  openai: {
    "gpt-5.5": [1_050_000, 5, 30, 0.5],
    "gpt-5.4": [1_050_000, 2.5, 15, 0.25, beyond(272_000, 5, 22.5)],
    "gpt-5.4-mini": [400_000, 0.75, 4.5, 0.075],
    "gpt-5.2": [400_000, 1.75, 14, 0.175],
    "gpt-5.1": [400_000, 1.25, 10, 0.125],
    "gpt-5": [400_000, 1.25, 10, 0.125],
    "gpt-5-mini": [400_000, 0.25, 2, 0.025],
    "gpt-5-nano": [400_000, 0.05, 0.4, 0.005],
    "gpt-4.1": [1_047_576, 2, 8, 0.5],
    "gpt-4.1-mini": [1_047_576, 0.4, 1.6, 0.1],
    "gpt-4.1-nano": [1_047_576, 0.1, 0.4, 0.025],
    "gpt-4o": [128_000, 2.5, 10, 1.25],
    "gpt-4o-mini": [128_000, 0.15, 0.6, 0.075],
    o3: [200_000, 2, 8, 0.5],
    "o4-mini": [200_000, 1.1, 4.4, 0.275],
  },
  anthropic: {
    "claude-opus-5-5": [MILLION, 4, 20, 0.2],
    "claude-opus-5": [MILLION, 5, 25, 0.5],
    "claude-sonnet-5-5": [MILLION, 2, 10, 0.2],
    "claude-sonnet-5": [MILLION, 2, 10, 0.2],
    "claude-haiku-5-5": [MILLION, 0.1, 0.5, 0.01, beyond(100_000, 0.5, 2.5)],
    "claude-fable-5": [MILLION, 10, 50, 1],
    "claude-opus-4-8": [MILLION, 5, 25, 0.5],
    "claude-opus-4-7": [MILLION, 5, 25, 0.5],
    "claude-opus-4-6": [MILLION, 5, 25, 0.5],
    "claude-opus-4-5": [200_000, 5, 25, 0.5],
    "claude-opus-4-1": [200_000, 15, 75, 1.5],
    "claude-sonnet-4-6": [MILLION, 3, 15, 0.3],
    "claude-sonnet-4-5": [200_000, 3, 15, 0.3],
    "claude-haiku-4-5": [200_000, 1, 5, 0.1],
  },
  google: {
    "gemini-3.5-flash": [1_048_576, 1.5, 9, 0.15],
    "gemini-3.1-pro": [1_048_576, 2, 12, 0.2, beyond(200_000, 4, 18)],
    "gemini-3.1-flash-lite": [1_048_576, 0.25, 1.5, 0.025],
    "gemini-3-pro": [1_048_576, 2, 12, 0.2, beyond(200_000, 4, 18)],
    "gemini-3-flash": [1_048_576, 0.5, 3, 0.05],
    "gemini-2.5-pro": [1_048_576, 1.25, 10, 0.125, beyond(200_000, 2.5, 15)],
    "gemini-2.5-flash": [1_048_576, 0.3, 2.5, 0.03],
    "gemini-2.5-flash-lite": [1_048_576, 0.1, 0.4, 0.01],
  },
};
