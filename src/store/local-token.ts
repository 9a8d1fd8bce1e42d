import { chmodSync, linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isErrno } from "#base/errno.ts";
import { type Logger, silentLogger } from "#base/logger.ts";
import { randomId } from "#base/random-id.ts";
import { Fault, findScarcity } from "#contract/fault.ts";
import { createTokenSecret, isTokenSecret } from "./secret.ts";
import type { Store } from "./store.ts";
import type { MintedToken, TokenContent } from "./tokens.ts";

const LOCAL: TokenContent = { label: "local", user_id: "local", role: "admin", workspaces: "*" };

/**
 * The administrator's token in a 0600 file, which the cli uses by itself. The file decides: its secret is registered
 * where the database does not know it, and a secret that was in it before is valid no more.
 */
export function openLocalToken(
  store: Pick<Store, "tokens">,
  path: string,
  log: Logger = silentLogger,
): MintedToken {
  const secret = readSecret(path, log) ?? createTokenFile(path, log);
  const token = store.tokens.find(secret) ?? store.tokens.registerLocal(secret, LOCAL);
  return { token, secret };
}

/** The file appears with its whole content or not at all; of two starters the second takes what the first made. */
export function createTokenFile(path: string, log: Logger = silentLogger): string {
  const temporary = `${path}.${randomId("tmp")}`;
  try {
    const secret = createTokenSecret();
    writeFileSync(temporary, `${secret}\n`, { flag: "wx", mode: 0o600 });
    linkSync(temporary, path);
    return secret;
  } catch (error) {
    const made = isErrno(error, "EEXIST") ? readSecret(path, log) : undefined;
    if (made !== undefined) return made;
    throw createFileFault(path, findScarcity(error)?.message ?? "it cannot be made", error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function readSecret(path: string, log: Logger): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  // A link or a file of somebody else's could hold a secret that he knows.
  if (!found.isFile() || found.uid !== (process.getuid?.() ?? found.uid))
    throw createFileFault(path, "it is not a file of yours");
  if ((found.mode & 0o077) !== 0) {
    chmodSync(path, 0o600);
    log.warn("others could read the token file until now; remove it to get a new token", { path });
  }
  const secret = readFileSync(path, "utf8").trim();
  if (isTokenSecret(secret)) return secret;
  throw createFileFault(path, "it holds no token; remove it and a new one is made");
}

function createFileFault(path: string, why: string, cause?: unknown): Fault {
  const code = findScarcity(cause)?.code ?? "internal";
  return new Fault(code, `the token file ${path} cannot be used: ${why}`, {
    details: { path },
    cause,
  });
}
