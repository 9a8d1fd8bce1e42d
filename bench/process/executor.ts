import { Agent, request } from "node:http";
import type { TempGateway } from "#bench/gateway/temp-gateway.ts";
import type { ProcessResult } from "#contract/tools/process.ts";

export interface Executor extends Disposable {
  execute(input: object): Promise<ProcessResult>;
  get(path: string): Promise<unknown>;
}

/** Calls on connections that stay open, as a client would. */
export function openExecutor({ url, token }: TempGateway): Executor {
  const agent = new Agent({ keepAlive: true });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const ask = async (method: string, path: string, body: string): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const sent = request(`${url}${path}`, { method, agent, headers }, async (response) => {
      let text = "";
      for await (const chunk of response) text += String(chunk);
      if (response.statusCode !== undefined && response.statusCode < 300) resolve(JSON.parse(text));
      else reject(new Error(`${method} ${path}: ${text}`));
    });
    sent.on("error", reject);
    sent.end(body);
    return await promise;
  };
  return {
    // The server's own answer, typed by the table.
    execute: async (input) =>
      (await ask(
        "POST",
        "/v1/processes",
        JSON.stringify({ workdir: "/", ...input }),
      )) as ProcessResult,
    get: (path) => ask("GET", path, ""),
    [Symbol.dispose]: () => agent.destroy(),
  };
}
