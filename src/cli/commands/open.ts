import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { addressOfPage } from "#cli/admin/page-address.ts";
import { findDataDir } from "#cli/program/context.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { openClient } from "#cli/target/open-client.ts";
import { Fault } from "#contract/fault.ts";

/** Makes a new ticket and shows the page to whoever sits here. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    print: { type: "boolean" },
    remote: { type: "string" },
    "data-dir": { type: "string" },
    json: { type: "boolean" },
  });
  refuseWords(positionals);
  const { remote, "data-dir": named, json = false, print = json } = values;
  if (remote !== undefined && named !== undefined)
    throw new Fault("invalid_request", "--data-dir is for a server of this machine, not --remote");
  const url =
    remote === undefined
      ? await findAddressHere(named === undefined ? findDataDir() : resolve(named))
      : await findAddressThere(remote);
  process.stdout.write(json ? `${JSON.stringify({ url })}\n` : `${url}\n`);
  const browser = findBrowser({
    platform: process.platform,
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
  });
  if (!print && browser !== undefined) startBrowser(browser, url);
  return 0;
}

/** The ticket is made in the store itself, so that no certificate has to be trusted for it. */
async function findAddressHere(dataDir: string): Promise<string> {
  const { createLocalTicket } = await import("#daemon/page/local-ticket.ts");
  const { page_url, ticket } = await createLocalTicket(dataDir);
  return addressOfPage(page_url, ticket);
}

async function findAddressThere(remote: string): Promise<string> {
  await using client = await openClient({ remote });
  const { ticket } = await client.call("ticket.create", {});
  return addressOfPage(remote, ticket);
}

export interface Desk {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Somebody reads what we print. */
  readonly isTerminal: boolean;
}

/** What shows an address here; undefined where nobody would see it. */
export function findBrowser({ platform, env, isTerminal }: Desk): string | undefined {
  const isElsewhere = (env.SSH_CONNECTION ?? "") !== "" || !isTerminal;
  if (isElsewhere) return undefined;
  if (platform === "darwin") return "open";
  const hasDisplay = [env.DISPLAY, env.WAYLAND_DISPLAY].some((name) => (name ?? "") !== "");
  return hasDisplay ? "xdg-open" : undefined;
}

/** It goes on without us; where there is none, the address has been printed. */
function startBrowser(program: string, url: string): void {
  const child = spawn(program, [url], { detached: true, stdio: "ignore" });
  child.on("error", () => undefined);
  child.unref();
}
