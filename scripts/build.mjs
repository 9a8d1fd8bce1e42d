// `npm run build`: the program as a bundle in dist/, because Node runs no TypeScript below node_modules and because one
// file starts faster than a hundred. Each lazily imported command becomes a chunk of its own.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

rmSync(join(root, "dist"), { recursive: true, force: true });
const { metafile } = await bundle({
  absWorkingDir: root,
  entryPoints: {
    main: "src/cli/main.ts",
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
  // Dependencies that are CommonJS require Node's own modules.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
  // Native code cannot be bundled; it is installed beside the package.
  external: ["koffi", "@lydell/node-pty"],
});
writeFileSync(join(root, "dist", "LICENSES.txt"), bundledLicenses(Object.keys(metafile.inputs)));

// `reins/client`: one file for browsers and for Node, and its types.
await bundle({
  absWorkingDir: root,
  entryPoints: { client: "src/client/index.ts" },
  outdir: "dist",
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2024",
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: "info",
});
writeClientTypes();

function writeClientTypes() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.client.json"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(1);
  const types = join(root, "dist", "types");
  for (const name of globSync("**/*.d.ts", { cwd: types })) {
    const file = join(types, name);
    const text = readFileSync(file, "utf8");
    writeFileSync(
      file,
      text.replace(/(from |import\()"(#|\.\.?\/)([^"]*)\.ts"/g, relink(dirname(file))),
    );
  }

  /** Names of ours (`#contract/…`) mean nothing outside of this repository. */
  function relink(folder) {
    return (...[, before, start, path]) => {
      const target = start === "#" ? relative(folder, join(types, path)) : `${start}${path}`;
      return `${before}"${target.startsWith(".") ? target : `./${target}`}.js"`;
    };
  }
}

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
  // Some publish their license only in their repository; then we keep it.
  const files = [
    ...["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].map((file) => join(root, path, file)),
    join(root, "scripts", "licenses", `${name.split("/")[0]}.txt`),
  ];
  const file = files.find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`${name} is bundled but has no license file`);
  return `${name} ${version}\n\n${readFileSync(file, "utf8")}`;
}
