import { build } from "esbuild";
import { expect, test } from "vitest";
import { findImports, isTest, listFiles, packageOf, readFile, root } from "./sources.ts";

const sources = listFiles("web/**/*.{ts,tsx}").filter((file) => file !== "web/vite.config.ts");
const OWN = /^#(?:web|client|contract)\//;
const PACKAGES = ["react", "react-dom", "marked", "vite"];

test("the page is made of itself, the client and the contract", () => {
  const isOwn = (from: string) => from.startsWith("./") || OWN.test(from);
  const isPackage = (name: string) => PACKAGES.includes(name) || name.startsWith("@xterm/");
  const wrong = sources.flatMap((file) =>
    findImports(readFile(file))
      .map(({ from }) => ({ from, name: packageOf(from) }))
      .filter(({ from, name }) => (name === undefined ? !isOwn(from) : !isPackage(name)))
      .filter(({ name }) => !(isTest(file) && (name === "vitest" || name === "fast-check")))
      .map(({ from }) => `${file}: ${from}`),
  );
  expect(sources.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test("nothing in the page makes HTML out of a text", () => {
  const makesHtml =
    /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|srcdoc/i;
  expect(sources.filter((file) => makesHtml.test(readFile(file)))).toEqual([]);
});

test("nothing in the page is loaded from elsewhere", () => {
  const files = [...sources, ...listFiles("web/**/*.{css,html,svg}")];
  const elsewhere = /(?:url\(|src=|href=|import\(?)\s*["']?(?:https?:)?\/\//;
  expect(files.filter((file) => elsewhere.test(readFile(file)))).toEqual([]);
});

test("the first view brings neither schemas nor terminals nor Markdown", async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["web/main.tsx"],
    outdir: "unused",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "esm",
    logLevel: "silent",
    loader: { ".module.css": "local-css" },
  });
  const outputs = Object.entries(metafile.outputs);
  const first = outputs.find(([, { entryPoint }]) => entryPoint === "web/main.tsx");
  const loaded = new Set<string>();
  const load = (name: string) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === "import-statement") load(path);
  };
  load(first?.[0] ?? "");
  const inputs = [...loaded].flatMap((name) => Object.keys(metafile.outputs[name]?.inputs ?? {}));
  expect(inputs).toContain("web/shell/shell.tsx");
  expect(inputs.filter((path) => /node_modules\/(?:zod|@xterm|marked)\//.test(path))).toEqual([]);
  const everything = outputs.flatMap(([, { inputs: parts }]) => Object.keys(parts));
  expect(everything.filter((path) => path.startsWith("node_modules/zod/"))).toEqual([]);
});
