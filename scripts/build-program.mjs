// The program as a bundle, because Node runs no TypeScript below node_modules and because one file starts faster than a
// hundred. Each lazily imported command becomes a chunk of its own; three have a bundle of their own.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledLicenses } from "./bundled-licenses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Commands that run for long or start often; bin/reins.mjs loads the program of each by its name. */
const PROGRAMS = ["host", "agent", "serve"];

/** Into `dist`, which is made if need be. What is wrong is printed, and thrown. */
export async function buildProgram(dist) {
  const all = await bundle(dist, {
    main: "src/cli/main.ts",
    // `reins/embedded`: agents in the process of whoever imports it.
    embedded: "src/daemon/embedded.ts",
    // A process is a file of its own.
    "screen-worker": "src/screen/screen-worker.ts",
  });
  // Code that all commands share lies in sixty chunks, each of which costs a process time at its start. On its own, a
  // command has few.
  for (const name of PROGRAMS)
    await bundle(dist, { [name]: "src/cli/main.ts" }, [onlyCommand(name)]);
  writeFileSync(join(dist, "LICENSES.txt"), bundledLicenses(Object.keys(all.inputs)));

  // `reins/client`: one file for browsers and for Node, and its types.
  await build({
    absWorkingDir: root,
    entryPoints: { client: "src/client/index.ts" },
    outdir: dist,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2024",
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: "warning",
  });
}

async function bundle(dist, entryPoints, plugins = []) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
    logLevel: "warning",
    // Dependencies that are CommonJS require Node's own modules.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    // React has its checks for developers in it otherwise, and is twice as large.
    define: { "process.env.NODE_ENV": '"production"' },
    // Native code cannot be bundled; it is installed beside the package. ink asks for the last one only where it is found.
    external: ["koffi", "@lydell/node-pty", "react-devtools-core"],
    plugins: [englishOnly(), ...plugins],
  });
  return metafile;
}

/** Leaves every other command out. None is asked for: bin/reins.mjs loads this program for its own command alone. */
function onlyCommand(name) {
  return {
    name: "only-command",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^#cli\/commands\/.*\.ts$/ }, ({ path, importer }) => {
        const isOther = path !== `#cli/commands/${name}.ts`;
        return isOther && importer.endsWith("/src/cli/commands.ts")
          ? { path, namespace: "other-command" }
          : undefined;
      });
      onLoad({ filter: /.*/, namespace: "other-command" }, ({ path }) => ({
        contents: `throw new Error("${path} is not in the program of reins ${name}");`,
      }));
    },
  };
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
