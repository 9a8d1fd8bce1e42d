import { Fault } from "#contract/fault.ts";

export const failureCauses = [
  "context_overflow",
  "rate_limited",
  "auth",
  "refused",
  "unavailable",
  "timeout",
  "malformed",
  "script",
] as const;
/** Why a model did not answer. */
export type FailureCause = (typeof failureCauses)[number];

/** What the details of a `model_failed` say. */
export interface ModelFailure {
  readonly cause: FailureCause;
  /** As `provider/model`. */
  readonly model: string;
  /** Of the provider's HTTP answer. */
  readonly status?: number | undefined;
  /** How long the provider asks to wait. */
  readonly retry_after_ms?: number | undefined;
}

/** A provider's sentence may be a page of HTML. */
const MESSAGE_CHARS = 600;
/** Shorter ones would blank out ordinary words. */
const SECRET_CHARS = 6;

export function createModelFault(failure: ModelFailure, message: string): Fault {
  const details = Object.fromEntries(
    Object.entries(failure).filter(([, value]) => value !== undefined),
  );
  return new Fault("model_failed", `${failure.model}: ${shorten(message)}`, { details });
}

/** The details of a `model_failed`; undefined for every other error. */
export function findModelFailure(error: unknown): ModelFailure | undefined {
  if (!(error instanceof Fault) || error.code !== "model_failed") return undefined;
  const { cause, model, status, retry_after_ms } = error.details;
  const known = failureCauses.find((each) => each === cause);
  if (known === undefined) return undefined;
  return {
    cause: known,
    model: String(model),
    status: typeof status === "number" ? status : undefined,
    retry_after_ms: typeof retry_after_ms === "number" ? retry_after_ms : undefined,
  };
}

/** No key is ever repeated, whoever quotes it. */
export function scrub(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SECRET_CHARS)
    .reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MESSAGE_CHARS ? `${line.slice(0, MESSAGE_CHARS)}…` : line;
}
