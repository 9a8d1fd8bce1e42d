import { messageOf } from "#base/errno.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { CUT_OFF } from "./cut-streams.ts";
import type { McpSdk, Server } from "./server.ts";

/** Shorter ones are words that stand anywhere. */
const SECRET_CHARS = 6;
/** The end says why. */
const SAID_CHARS = 600;

/** Why something with a server did not work, as a sentence for people and models. */
export function describeFailure(error: unknown, server: Server, sdk: McpSdk): string {
  return tellWhy(`${server.label} ${reasonOf(error, server, sdk)}`, server);
}

export function describeLateness(server: Server, ms: number): string {
  return tellWhy(`${server.label} has not answered within ${ms / 1000} s`, server);
}

/** Whether the server, or what it knew of us, is gone, so that one has to connect again. */
export function isGone(error: unknown, sdk: McpSdk): boolean {
  if (error instanceof sdk.SdkHttpError) return error.status === 404;
  if (error instanceof sdk.SdkError) return error.code === sdk.SdkErrorCode.ConnectionClosed;
  return isNetworkError(error);
}

function reasonOf(error: unknown, server: Server, sdk: McpSdk): string {
  const exit = server.exit();
  if (exit !== undefined) return exit;
  if (error instanceof Fault) return `cannot be started: ${error.message}`;
  if (error instanceof sdk.ProtocolError)
    return error.message === CUT_OFF ? CUT_OFF : `refused: ${error.message}`;
  if (error instanceof sdk.SdkHttpError) return `answered ${error.status}: ${error.message}`;
  if (isNetworkError(error)) return `cannot be reached: ${messageOf(error.cause ?? error)}`;
  if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.ConnectionClosed)
    return "has closed the connection";
  return `could not be used: ${messageOf(error)}`;
}

/** The one that `fetch` throws; why it could not is its cause. */
function isNetworkError(error: unknown): error is TypeError {
  return error instanceof TypeError;
}

function tellWhy(sentence: string, server: Server): string {
  // Hidden before it is cut, or half a secret would be left.
  const hide = (text: string) => hideSecrets(text, server.secrets);
  const said = hide(server.said()).slice(-SAID_CHARS);
  const first = hide(sentence).slice(0, limits.detail_chars - SAID_CHARS);
  return said === "" ? first : `${first}; it said: ${said}`;
}

/** Whoever shows or logs what a server says, hides these first. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}
