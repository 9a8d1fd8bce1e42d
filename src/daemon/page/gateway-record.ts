import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { isErrno } from "#base/errno.ts";
import { identify, isAlive } from "#proc/identity.ts";

/** Where the newest gateway of a data directory is, for `reins open`. */
const GatewayRecord = z.object({
  /** As a browser reaches it. */
  page_url: z.url(),
  process: z.object({ pid: z.int(), start_time: z.number(), boot_id: z.string() }),
});

const FILE = "gateway.json";

/** Until it is disposed, or another gateway has taken the place. */
export function openGatewayRecord(dataDir: string, pageUrl: string): Disposable {
  const path = join(dataDir, FILE);
  const record = { page_url: pageUrl, process: identify(process.pid) };
  const text = `${JSON.stringify(record)}\n`;
  writeFileAtomic(path, text);
  return {
    [Symbol.dispose]: () => {
      if (readText(path) === text) rmSync(path, { force: true });
    },
  };
}

/** The address of a gateway that lives. */
export function findPageUrl(dataDir: string): string | undefined {
  const text = readText(join(dataDir, FILE));
  const parsed = GatewayRecord.safeParse(parseJson(text ?? ""));
  if (!parsed.success || !isAlive(parsed.data.process)) return undefined;
  return parsed.data.page_url;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Nothing that we wrote: then nobody is known to serve.
    return undefined;
  }
}
