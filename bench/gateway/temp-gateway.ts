import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openTempHost, reinsPath, type TempHost } from "#bench/lib/temp-host.ts";
import { type ChildProgram, openChildProgram } from "./child-program.ts";
import { openViewer, type Viewer, type Wire } from "./viewer.ts";

export interface TempGateway extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly host: TempHost;
  create(request: SessionRequest): Promise<string>;
  /** And its log with it. */
  remove(sessionId: string): Promise<void>;
  attach(sessionId: string, options?: AttachOptions): Promise<Viewer>;
  /** For clients that are programs of their own. */
  attachUrl(sessionId: string, query?: string): string;
  /** Killed, and another one started on the same port. */
  restart(): Promise<void>;
}

export interface SessionRequest {
  readonly kind: "terminal" | "command";
  readonly argv: readonly string[];
}

export interface AttachOptions {
  readonly wire?: Wire;
  readonly query?: string;
}

/** `reins serve` and its host, each a process of its own, on a data directory that is removed at the end. */
export async function openTempGateway(): Promise<TempGateway> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTempHost());
  let server = stack.use(await serve(host, "127.0.0.1:0"));
  const url = String(server.ready.listening);
  const token = readFileSync(join(host.dir.path, "token"), "utf8").trim();
  const headers = { Authorization: `Bearer ${token}` };
  const request = async (method: string, path: string, body?: object) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, "Content-Type": "application/json" },
      ...json,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
  const attachUrl = (sessionId: string, query = "since=0") =>
    `${url.replace(/^http/, "ws")}/v1/sessions/${sessionId}/ws?${query}`;
  const owned = stack.move();
  return {
    url,
    token,
    host,
    get pid() {
      return server.pid;
    },
    create: async (session) => (await request("POST", "/v1/sessions", session)).session_id,
    remove: async (sessionId) => {
      await request("DELETE", `/v1/sessions/${sessionId}?purge=1`);
    },
    attach: (sessionId, { wire = "binary", query } = {}) =>
      openViewer(attachUrl(sessionId, query), { wire, headers }),
    attachUrl,
    restart: async () => {
      await server.kill("SIGKILL");
      server = owned.use(await serve(host, new URL(url).host));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function serve({ dir }: TempHost, listen: string): Promise<ChildProgram> {
  // Such as --cpu-prof: where its time goes is the first question after a ratio.
  const nodeArgs = process.env.GATEWAY_NODE_ARGS?.split(" ") ?? [];
  const args = ["serve", "--json", "--listen", listen, "--data-dir", dir.path];
  return openChildProgram([...nodeArgs, reinsPath, ...args]);
}
