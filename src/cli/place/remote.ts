import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findDataDir } from "#cli/context.ts";
import { Fault } from "#contract/fault.ts";

export function parseRemote(remote: string): URL {
  const url = URL.parse(remote);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new Fault(
    "invalid_request",
    `--remote: ${JSON.stringify(remote)} does not look like http://127.0.0.1:7346`,
  );
}

/** The administrator's token of this machine is for servers of this machine: nobody else is shown it. */
export function findToken({ hostname }: URL): string {
  const { REINS_TOKEN: given } = process.env;
  if (given !== undefined && given !== "") return given;
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
    throw new Fault("unauthenticated", `${hostname} wants a token: put it into REINS_TOKEN`);
  const path = join(findDataDir(), "token");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Fault(
      "unauthenticated",
      `there is no token: put one into REINS_TOKEN; ${path} cannot be read`,
      { cause: error },
    );
  }
}
