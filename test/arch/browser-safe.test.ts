import { type BuildResult, build } from "esbuild";
import { expect, test } from "vitest";
import { isTest, listFiles, readFile, root } from "./sources.ts";

const contract = listFiles("src/contract/**/*.ts").filter((file) => !isTest(file));
/** What only Node has, used without an import. */
const NODE_GLOBALS = /\b(?:process\.|Buffer\b|setImmediate\b|__dirname\b|__filename\b|require\()/;

test("the contract bundles for a browser with nothing but itself and zod", async () => {
  const inputs = Object.keys((await bundle(contract)).metafile.inputs);
  expect(inputs).toEqual(expect.arrayContaining(contract));
  const foreign = inputs.filter((path) => !/^(src\/contract|node_modules\/zod)\//.test(path));
  expect(foreign).toEqual([]);
});

test("the contract uses nothing that only Node has", () => {
  expect(contract.filter((file) => NODE_GLOBALS.test(readFile(file)))).toEqual([]);
});

/** Fails on any module of Node's. */
function bundle(files: readonly string[]): Promise<BuildResult<{ metafile: true }>> {
  return build({
    absWorkingDir: root,
    entryPoints: [...files],
    outdir: "unused",
    bundle: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "esm",
    logLevel: "silent",
  });
}
