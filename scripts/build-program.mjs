// The program as a bundle, because Node runs no TypeScript below node_modules and because one file starts faster than a
// hundred. Each lazily imported command becomes a chunk of its own.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledLicenses } from "./bundled-licenses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Into `dist`, which is made if need be. What is wrong is printed, and thrown. */
export async function buildProgram(dist) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: "src/cli/main.ts",
      // `reins/embedded`: agents in the process of whoever imports it.
      embedded: "src/daemon/embedded.ts",
      // A process is a file of its own.
      "screen-worker": "src/screen/screen-worker.ts",
    },
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
    plugins: [englishOnly()],
  });
  writeFileSync(join(dist, "LICENSES.txt"), bundledLicenses(Object.keys(metafile.inputs)));

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
