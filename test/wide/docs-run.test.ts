import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { listFiles, readFile, root } from "#test/arch/sources.ts";
import { openReins, type Reins } from "#test/harness/reins.ts";
import { runProgram } from "#test/harness/run-program.ts";

/** A block of a page that says of itself that it can be run. */
interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** Nothing in the docs takes long; what hangs is a mistake in them. */
const BLOCK_SECONDS = "50";
const PAGE_MS = 120_000;

const pages = listFiles("README.md", "docs/*.md").filter((page) => findBlocks(page).length > 0);

test("the README and the guides have commands that can be run", () => {
  expect(pages).toEqual(
    expect.arrayContaining([
      "README.md",
      "docs/cli-agents.md",
      "docs/deploy.md",
      "docs/embed-client.md",
      "docs/troubleshooting.md",
    ]),
  );
});

/** Where somebody would be who follows the page: their own home, the examples beside them, `reins` on the path. */
test.each(pages)("what %s says to run can be run", { timeout: PAGE_MS }, async (page) => {
  await using reins = await openReins();
  cpSync(join(root, "examples"), join(reins.path, "examples"), { recursive: true });
  const failed: string[] = [];
  for (const block of findBlocks(page)) {
    const end =
      block.language === "ts" ? await runTypeScript(reins, block) : await runShell(reins, block);
    if (end.code !== expectedCode(block))
      failed.push(
        `${page}:${block.line} ended with ${end.code ?? end.signal}: ${end.stderr.slice(-2000)}`,
      );
  }
  expect(failed).toEqual([]);
});

async function runShell(reins: Reins, { text }: Block) {
  const argv = ["timeout", BLOCK_SECONDS, "bash", "-euo", "pipefail", "-c", text];
  return await runProgram(argv, { cwd: reins.path, env: reins.env });
}

/** A program of somebody who has installed the package; here it is the source that the package is made of. */
async function runTypeScript(reins: Reins, { text }: Block) {
  await using server = await serve(reins);
  const client = pathToFileURL(join(root, "src", "client", "index.ts")).href;
  const path = join(reins.path, "program.mts");
  writeFileSync(path, text.replaceAll('"reins/client"', JSON.stringify(client)));
  const env = { ...reins.env, REINS_URL: server.url, REINS_TOKEN: server.token };
  const argv = ["timeout", BLOCK_SECONDS, process.execPath, path];
  return await runProgram(argv, { cwd: reins.path, env });
}

async function serve(reins: Reins) {
  const child = spawn("reins", ["serve", "--listen", "127.0.0.1:0", "--json"], {
    env: reins.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [line] = await once(createInterface(child.stdout), "line");
  const { listening } = JSON.parse(String(line));
  return {
    url: String(listening),
    token: readFileSync(join(reins.home, "token"), "utf8").trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Fences of three backticks or more. The docs use four: who checks the names in code knows fences of one word alone. */
function findBlocks(page: string): Block[] {
  const text = readFile(page);
  return [...text.matchAll(/^(`{3,})(sh|ts) run\n(.*?)^\1$/gms)].map((match) => ({
    language: match[2] ?? "",
    text: match[3] ?? "",
    line: text.slice(0, match.index).split("\n").length,
  }));
}

function expectedCode({ text }: Block): number {
  return Number(/^# exits (\d+)$/m.exec(text)?.[1] ?? 0);
}
