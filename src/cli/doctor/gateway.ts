import { readFileSync } from "node:fs";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { join } from "node:path";
import { messageOf } from "#base/errno.ts";
import { parseObject } from "#contract/values/parse-object.ts";
import { type Finding, failed, fine, note } from "./finding.ts";
import type { World } from "./world.ts";

const NAME = "gateway";
/** Of an answer; ours is far shorter. */
const ANSWER_BYTES = 64 * 1024;

interface Address {
  readonly hostname: string;
  readonly port: number;
  /** The certificate that it must show. */
  readonly cert: string | undefined;
}

/** A server that the configuration file names must answer; without one, none is needed. */
export async function checkGateway({ dir, patienceMs }: World): Promise<Finding> {
  const { readConfig } = await import("#daemon/config.ts");
  const { DEFAULT_LISTEN, parseListen } = await import("#daemon/listen.ts");
  const file = join(dir.path, "config.yaml");
  try {
    const config = readConfig(file);
    const address = parseListen(config.listen ?? DEFAULT_LISTEN);
    if (address === undefined || address.port === 0)
      return note(NAME, "The server listens on a port that is picked when it starts.");
    const cert = config.tls === undefined ? undefined : readFileSync(config.tls.cert, "utf8");
    const finding = await describeServer({ ...address, cert }, patienceMs);
    const isWanted = config.listen !== undefined;
    return isWanted || finding.status === "ok" ? finding : withoutServer(address.port);
  } catch (error) {
    return failed(NAME, `${messageOf(error)}.`, `Correct ${file}.`);
  }
}

function withoutServer(port: number): Finding {
  return note(
    NAME,
    `No server of Reins answers on port ${port}; only browsers and other machines need one.`,
    "reins serve starts it.",
  );
}

async function describeServer(address: Address, patienceMs: number): Promise<Finding> {
  const url = `${address.cert === undefined ? "http" : "https"}://${hostOf(address)}:${address.port}`;
  try {
    const { status, version } = await askHealth(address, patienceMs);
    if (status === "ok") return fine(NAME, `The server ${version} answers at ${url}.`);
    return failed(
      NAME,
      `The server ${version} at ${url} says that it is ${status}.`,
      "gateway.log in the data directory says more.",
    );
  } catch (error) {
    return failed(
      NAME,
      `No server of Reins answers at ${url}: ${messageOf(error)}.`,
      "reins serve",
    );
  }
}

/** Everywhere is also here. */
function hostOf({ hostname }: Address): string {
  if (hostname === "0.0.0.0") return "127.0.0.1";
  if (hostname === "::") return "[::1]";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

interface Health {
  readonly status: string;
  readonly version: string;
}

async function askHealth(address: Address, patienceMs: number): Promise<Health> {
  const options = {
    hostname: hostOf(address).replace(/^\[|\]$/g, ""),
    port: address.port,
    path: "/v1/health",
    agent: false as const,
    signal: AbortSignal.timeout(patienceMs),
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request =
    address.cert === undefined
      ? requestPlain(options)
      : requestTls({
          ...options,
          // Whether it is the certificate that was configured; its names are for those who come from elsewhere.
          ca: address.cert,
          allowPartialTrustChain: true,
          checkServerIdentity: () => undefined,
        });
  request.on("response", resolve).on("error", reject).end();
  const health = parseHealth(await readAnswer(await promise));
  if (health === undefined) throw new Error("something else answers there");
  return health;
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > ANSWER_BYTES) break;
  }
  return text;
}

function parseHealth(text: string): Health | undefined {
  const found = parseObject(text);
  if (found === undefined || !("status" in found && "version" in found)) return undefined;
  return { status: String(found.status), version: String(found.version) };
}
