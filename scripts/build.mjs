// `npm run build`: the program as a bundle in dist/, because Node runs no TypeScript below node_modules and because one
// file starts faster than a hundred. Each lazily imported command becomes a chunk of its own.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWeb } from "./build-web.mjs";
import { bundledLicenses } from "./bundled-licenses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

emptyDist();
const { metafile } = await bundle({
  absWorkingDir: root,
  entryPoints: {
    main: "src/cli/main.ts",
    // `reins/embedded`: agents in the process of whoever imports it.
    embedded: "src/daemon/embedded.ts",
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
  // React has its checks for developers in it otherwise, and is twice as large.
  define: { "process.env.NODE_ENV": '"production"' },
  // Native code cannot be bundled; it is installed beside the package. ink asks for the last one only where it is found.
  external: ["koffi", "@lydell/node-pty", "react-devtools-core"],
  plugins: [englishOnly()],
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
writeTypes("tsconfig.client.json", "client/index.d.ts");
writeTypes("tsconfig.embedded.json", "daemon/embedded.d.ts");
await buildWeb();

/** All but the page, which knows by itself whether it is stale, and which a gateway may be serving. */
function emptyDist() {
  mkdirSync(join(root, "dist"), { recursive: true });
  for (const name of readdirSync(join(root, "dist")))
    if (name !== "web") rmSync(join(root, "dist", name), { recursive: true, force: true });
}

/** The declarations that an entry needs, and no other: the rest names packages that nobody installs with us. */
function writeTypes(project, entry) {
  const whole = mkdtempSync(join(tmpdir(), "reins-types-"));
  try {
    emitTypes(project, whole);
    copyTypes(entry, { from: whole, to: join(root, "dist", "types"), done: new Set() });
  } finally {
    rmSync(whole, { recursive: true, force: true });
  }
}

function emitTypes(project, outDir) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", project, "--outDir", outDir], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`${project} has errors`);
}

function copyTypes(name, place) {
  if (place.done.has(name)) return;
  place.done.add(name);
  const text = readFileSync(join(place.from, name), "utf8");
  const folder = dirname(name);
  const linked = text.replace(
    /(from |import\()"(#|\.\.?\/)([^"]*)\.ts"/g,
    (...[, before, start, path]) => {
      // Names of ours (`#contract/…`) mean nothing outside of this repository.
      const target = start === "#" ? path : join(folder, `${start}${path}`);
      copyTypes(`${target}.d.ts`, place);
      const link = relative(folder, target);
      return `${before}"${link.startsWith(".") ? link : `./${link}`}.js"`;
    },
  );
  mkdirSync(join(place.to, folder), { recursive: true });
  writeFileSync(join(place.to, name), linked);
}

/** zod brings its messages in fifty languages, and every process that checks anything would load them. */
function englishOnly() {
  return {
    name: "english-only",
    setup({ onLoad }) {
      onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: 'export { default as en } from "./en.js";',
      }));
    },
  };
}

async function bundle(options) {
  try {
    return await build(options);
  } catch {
    // What is wrong has been printed.
    process.exit(1);
  }
}
