import { build, type Metafile } from "esbuild";
import { expect, test } from "vitest";
import { packageOf, root } from "./sources.ts";

/** People wait for a worker's start: what it loads before its first line is what every team needs. */

const entry = "src/daemon/agent.ts";

test("a worker starts without any provider, without MCP and without the tools' code", async () => {
  const inputs = listLoaded(await bundle());
  const packages = new Set(inputs.flatMap((path) => packageIn(path) ?? []));
  expect([...packages].sort()).toEqual(["unbash", "yaml", "zod"]);
  const others = inputs.filter((path) =>
    /^src\/(?:http|mcp|cli|app|tools|host\/socket)\//.test(path),
  );
  expect(others).toEqual([]);
});

test("nothing that a worker starts with brings Node's own http, which loads slowly", async () => {
  const metafile = await bundle();
  const slow = listLoaded(metafile).filter((path) =>
    metafile.inputs[path]?.imports.some(
      ({ path: to, kind }) => kind === "import-statement" && /^(?:node:)?https?$/.test(to),
    ),
  );
  expect(slow).toEqual([]);
});

test("each provider is a chunk of its own", async () => {
  const { outputs } = await bundle();
  const chunks = ["anthropic", "google", "openai", "openai-compatible"].map((name) => {
    const start = `node_modules/@ai-sdk/${name}/`;
    return Object.values(outputs).filter(({ inputs }) =>
      Object.keys(inputs).some((path) => path.startsWith(start)),
    );
  });
  expect(chunks.map((found) => found.length)).toEqual([1, 1, 1, 1]);
  expect(new Set(chunks.flat()).size).toBe(chunks.length);
});

/** The files in what is loaded at once: the entry's chunk, and those that it imports in turn. */
function listLoaded({ outputs }: Metafile): string[] {
  const first = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === entry);
  const loaded = new Set(first);
  for (const path of loaded) {
    const imports = outputs[path]?.imports ?? [];
    for (const { path: to, kind, external } of imports)
      if (kind === "import-statement" && external !== true) loaded.add(to);
  }
  return [...loaded].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

function packageIn(path: string): string | undefined {
  const [, name] = /^node_modules\/(.*)$/.exec(path) ?? [];
  return name === undefined ? undefined : packageOf(name);
}

let built: Promise<Metafile> | undefined;

function bundle(): Promise<Metafile> {
  built ??= build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: "never-written",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    write: false,
    metafile: true,
    logLevel: "silent",
    external: ["koffi", "@lydell/node-pty"],
  }).then(({ metafile }) => metafile);
  return built;
}
