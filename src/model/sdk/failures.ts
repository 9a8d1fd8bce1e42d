import type { Fault } from "#contract/fault.ts";
import { isObject } from "#contract/values/is-object.ts";
import { createModelFault, type FailureCause, scrub } from "#model/failure.ts";

/** What the packages' many errors have in common. */
interface ProviderError {
  readonly status: number | undefined;
  /** All that was said, for recognising it. */
  readonly text: string;
  /** For people. */
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Says in our words what went wrong at a provider. The error itself is dropped: it holds the request. */
export function toFault(
  error: unknown,
  at: { readonly model: string; readonly secrets: readonly string[]; readonly now: number },
): Fault {
  const found = readError(error);
  const cause = findCause(found, error);
  const retry_after_ms = cause === "rate_limited" ? findRetryAfter(found, at.now) : undefined;
  const said = scrub(found.message, at.secrets);
  const status = found.status === undefined ? "" : ` (${found.status})`;
  const message = `${sentences[cause]}${status}${said === "" ? "" : `: ${said}`}`;
  return createModelFault(
    { cause, model: at.model, status: found.status, retry_after_ms },
    message,
  );
}

const sentences: Readonly<Record<FailureCause, string>> = {
  context_overflow: "the conversation is longer than the model's context",
  rate_limited: "the provider asks to slow down",
  auth: "the provider does not accept the key",
  refused: "the provider refuses the request",
  unavailable: "the provider does not answer as it should",
  timeout: "the provider took too long",
  malformed: "the provider sent something that is no answer",
  script: "the script failed",
};

/** What providers and servers say when a prompt is too long. A limit on tokens a minute is another thing. */
const overflow = new RegExp(
  [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "maximum prompt length",
    "exceeds? the (?:model'?s )?(?:maximum |available )?context",
    "(?:greater|longer|larger) than the context",
    "context (?:window|length|size|limit)[^.]{0,40}exceed",
    "exceed[^.]{0,40}context (?:window|length|size|limit)",
    "prompt is too long",
    "input is too long",
    "input token count[^.]{0,60}exceeds",
    "reduce the length of (?:the|your) (?:messages|prompt|input)",
    "request_too_large",
  ].join("|"),
  "i",
);
const badKey = /api[ _]key not valid|API_KEY_INVALID|invalid[ _]api[ _]key|authentication_error/i;
/** No waiting helps against these. */
const noQuota = /insufficient_quota|credit balance is too low|billing_hard_limit/i;
const brokenOff =
  /terminated|fetch failed|socket|other side closed|network|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|UND_ERR|cannot connect|without a finish reason|overloaded|server_error|api_error|unavailable/i;
const slowDown = /rate_limit|RESOURCE_EXHAUSTED|too many requests/i;

function findCause({ status, text }: ProviderError, error: unknown): FailureCause {
  if (status !== 429 && overflow.test(text)) return "context_overflow";
  if (status !== undefined) return causeOfStatus(status, text);
  if (badKey.test(text)) return "auth";
  if (slowDown.test(text)) return "rate_limited";
  const name = String(read(error, "name") ?? "");
  if (/InvalidArgument|UnsupportedFunctionality|InvalidPrompt|NoSuchModel/.test(name)) {
    return "refused";
  }
  if (/JSONParse|TypeValidation/.test(name)) return "malformed";
  if (brokenOff.test(text)) return "unavailable";
  return "malformed";
}

function causeOfStatus(status: number, text: string): FailureCause {
  if (status === 401 || status === 403 || (status === 400 && badKey.test(text))) return "auth";
  if (status === 413) return "context_overflow";
  if (status === 408) return "timeout";
  if (status === 429) return noQuota.test(text) ? "refused" : "rate_limited";
  return status >= 500 ? "unavailable" : "refused";
}

function readError(error: unknown): ProviderError {
  const said = read(error, "message");
  const message = typeof error === "string" ? error : typeof said === "string" ? said : "";
  const status = [read(error, "statusCode"), read(error, "code")].map(toStatus).find(Boolean);
  const parts = [
    message,
    read(error, "type"),
    read(error, "code"),
    read(error, "responseBody"),
    toJson(read(error, "data")),
    ...causes(error),
  ];
  const headers = read(error, "responseHeaders");
  return {
    status,
    text: parts.filter((part) => part !== undefined).join("\n"),
    message: describe(message, { status, location: read(headers, "location") }),
    headers: isObject(headers) ? headers : {},
  };
}

function describe(
  message: string,
  { status, location }: { readonly status: number | undefined; readonly location: unknown },
): string {
  const isMoved = status !== undefined && status >= 300 && status < 400;
  if (!isMoved) return message;
  return `it redirects to ${String(location)}; a key is not sent there by itself, give that address as base_url`;
}

/** Only what says that the request failed: a package also reports a broken answer with the 200 that it began with. */
function toStatus(value: unknown): number | undefined {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && status >= 300 && status < 600 ? status : undefined;
}

/** The network's own words are some levels down. */
const CAUSES_DEEP = 5;

function causes(error: unknown): string[] {
  const found: string[] = [];
  let next = read(error, "cause");
  for (let depth = 0; depth < CAUSES_DEEP && isObject(next); depth += 1) {
    found.push(`${String(read(next, "message") ?? "")} ${String(read(next, "code") ?? "")}`);
    next = read(next, "cause");
  }
  return found;
}

/** In ms; a date, seconds, milliseconds, or Google's `retryDelay` in the body. */
function findRetryAfter({ headers, text }: ProviderError, now: number): number | undefined {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  const after = headers["retry-after"];
  if (typeof after === "string" && after !== "") {
    const seconds = Number(after);
    if (Number.isFinite(seconds)) return Math.max(0, Math.round(seconds * 1000));
    const date = Date.parse(after);
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000);
}

function toJson(value: unknown): string | undefined {
  return isObject(value) ? JSON.stringify(value) : undefined;
}

function read(value: unknown, field: string): unknown {
  return isObject(value) ? value[field] : undefined;
}
