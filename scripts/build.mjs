// `npm run build`: the program as a bundle in dist/, because Node runs no TypeScript below node_modules and because one
// file starts faster than a hundred. Each lazily imported command becomes a chunk of its own.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

rmSync(join(root, "dist"), { recursive: true, force: true });
const { metafile } = await bundle({
  absWorkingDir: root,
  entryPoints: {
    main: "src/cli/main.ts",
    client: "src/client/client.ts",
    // Threads are files of their own.
    "screen-worker": "src/app/screen/screen-worker.ts",
    "pattern-worker": "src/app/read/pattern-worker.ts",
  },
  outdir: "dist",
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  logLevel: "info",
  // What is installed beside the package: native code cannot be bundled.
  external: Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }),
});
writeFileSync(join(root, "dist", "LICENSES.txt"), bundledLicenses(Object.keys(metafile.inputs)));

async function bundle(options) {
  try {
    return await build(options);
  } catch {
    // What is wrong has been printed.
    process.exit(1);
  }
}

/** Whoever's code is in the bundle is named with it. */
function bundledLicenses(inputs) {
  const paths = inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const packages = [...new Set(paths.filter((path) => path !== undefined))].sort();
  return packages.map(licenseOf).join("\n");
}

function licenseOf(path) {
  const { name, version } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
  const files = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].map((file) =>
    join(root, path, file),
  );
  const file = files.find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`${name} is bundled but has no license file`);
  return `${name} ${version}\n\n${readFileSync(file, "utf8")}`;
}
