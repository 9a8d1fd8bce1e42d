import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openSmallDisk } from "#log/testing/small-disk.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { binPath } from "#test/harness/packaged.ts";

const MIB = 1024 * 1024;
const PAGE_BYTES = 4096;
/** More than a server writes when it starts. */
const MOST_PAGES = 6;

test("a server that finds a full disk says so in one line, wherever in its start it ends", async () => {
  using disk = openSmallDisk(4 * MIB);
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(/permi|root|superuser|ENOENT/i);
    return;
  }
  const dataDir = join(disk.path, "home");
  {
    // Leaves everything that a later one finds, and nothing open.
    await using first = await openGatewayProcess({ dataDir });
    await first.kill("SIGKILL");
  }
  const said: string[] = [];
  for (let pages = 0; pages <= MOST_PAGES; pages += 1) {
    using _filled = fillDisk(disk.path, pages);
    said.push(await serve(dataDir));
  }
  const refusals = said.filter((line) => line !== "listens");
  expect(refusals.length).toBeGreaterThan(0);
  for (const line of refusals) expect(line).toMatch(/^7 reins: [^\n]*no room left on the disk/);
});

test("every command that makes the data directory ends with the same word on a full disk", async () => {
  using disk = openSmallDisk(4 * MIB);
  if (disk.refused !== undefined) {
    expect(disk.refused).toMatch(/permi|root|superuser|ENOENT/i);
    return;
  }
  using _filled = fillDisk(disk.path, 0);
  const commands = [["run", "--", "true"], ["exec", "--", "true"], ["ps"], ["serve", "mcp"]];
  for (const words of [...commands, ["proto"], ["workspace", "list"]])
    expect([words, await runOnce(words, join(disk.path, "home"))]).toEqual([
      words,
      expect.stringMatching(/^7 reins: [^\n]*no room left on the disk[^\n]*\n$/),
    ]);
});

/** But for so many pages. */
function fillDisk(path: string, pages: number): Disposable {
  const spare = join(path, "spare");
  const filler = join(path, "filler");
  writeFileSync(spare, Buffer.alloc(pages * PAGE_BYTES));
  try {
    writeFileSync(filler, Buffer.alloc(8 * MIB));
    throw new Error("the disk is larger than it should be");
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  }
  rmSync(spare);
  return { [Symbol.dispose]: () => rmSync(filler) };
}

/** Its exit code and its words, or that it listens. */
async function serve(dataDir: string): Promise<string> {
  const child = startReins(["serve", "--json", "--listen", "127.0.0.1:0"], dataDir);
  child.stdout.once("data", () => child.kill("SIGKILL"));
  const [words, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return code === null ? "listens" : `${code} ${words}`;
}

async function runOnce(words: readonly string[], dataDir: string): Promise<string> {
  const child = startReins(words, dataDir);
  child.stdout.resume();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return `${code} ${said}`;
}

function startReins(words: readonly string[], dataDir: string) {
  return spawn(process.execPath, [binPath, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, REINS_HOME: dataDir, HOME: dataDir },
  });
}
