import { type BuildResult, build } from "esbuild";
import { expect, test } from "vitest";
import { isTest, listFiles, readFile, root } from "./sources.ts";

const contract = listFiles("src/contract/**/*.ts").filter((file) => !isTest(file));
const client = listFiles("src/client/**/*.ts").filter((file) => !isTest(file));
/** What only Node has, used without an import. An operation may be named after a process, so its members are named. */
const NODE_GLOBALS =
  /\b(?:process\.(?:argv|cwd|env|execPath|exit\b|hrtime|kill|memory|nextTick|on|pid|platform|std|umask|version)|Buffer\b|setImmediate\b|__dirname\b|__filename\b|require\()/;

test("the contract bundles for a browser with nothing but itself and zod", async () => {
  const inputs = Object.keys((await bundle(contract)).metafile.inputs);
  expect(inputs).toEqual(expect.arrayContaining(contract));
  const foreign = inputs.filter((path) => !/^(src\/contract|node_modules\/zod)\//.test(path));
  expect(foreign).toEqual([]);
});

test("the client bundles for a browser with the few files of the contract that need no zod", async () => {
  const inputs = Object.keys((await bundle(["src/client/index.ts"])).metafile.inputs);
  // What is only a type is in no bundle.
  expect(inputs.filter((path) => path.startsWith("src/client/")).sort()).toEqual(client);
  expect(inputs.filter((path) => !path.startsWith("src/client/")).sort()).toEqual([
    "src/contract/channels.ts",
    "src/contract/fault.ts",
    "src/contract/faults.ts",
    "src/contract/limits.ts",
    "src/contract/runtime/create-backend.ts",
    "src/contract/runtime/create-runtime.ts",
    "src/contract/terminal/input-frame.ts",
    "src/contract/values/defined.ts",
    "src/contract/values/is-object.ts",
    "src/contract/values/parse-object.ts",
  ]);
});

test("the contract and the client use nothing that only Node has", () => {
  const files = [...contract, ...client];
  expect(files.filter((file) => NODE_GLOBALS.test(readFile(file)))).toEqual([]);
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
