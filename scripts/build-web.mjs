// `npm run build:web`: the page in dist/web/, as the gateway serves it. Does nothing when it is as new as its sources.
//
//   sources --hash--> stamp, the same as in dist/web/.stamp? done
//   otherwise: dist/web.<pid>.tmp <- Vite, the licenses, .br and .gz beside each text, .stamp; then renamed to dist/web
//
// Whoever builds at the same time builds its own; a whole page is in its place at any moment, or none.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { bundledLicenses } from "./bundled-licenses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const out = join(dist, "web");
const SOURCES = ["web", "src/contract", "src/client", "scripts/build-web.mjs", "package-lock.json"];
const TEXT = [".html", ".js", ".css", ".svg", ".json", ".txt", ".webmanifest"];
/** A smaller one is one packet anyway. */
const COMPRESSED_FROM_BYTES = 1024;

/** Whether there was something to build. */
export async function buildWeb() {
  const stamp = hashSources();
  if (readStamp() === stamp) return false;
  mkdirSync(dist, { recursive: true });
  const work = join(dist, `web.${process.pid}.tmp`);
  try {
    await bundle(work);
    for (const path of listFiles(work)) compress(path);
    writeFileSync(join(work, ".stamp"), stamp);
    putInPlace(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return true;
}

async function bundle(outDir) {
  const { build } = await import("vite");
  const modules = [];
  await build({
    configFile: join(root, "web", "vite.config.ts"),
    logLevel: "error",
    build: { outDir, emptyOutDir: true },
    plugins: [
      {
        name: "names-of-modules",
        generateBundle() {
          modules.push(...this.getModuleIds());
        },
      },
    ],
  });
  writeFileSync(join(outDir, "LICENSES.txt"), bundledLicenses(modules));
}

function compress(path) {
  const content = readFileSync(path);
  if (!TEXT.includes(extname(path)) || content.length <= COMPRESSED_FROM_BYTES) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
}

/** A folder cannot be replaced in one step: the old one goes aside first. */
function putInPlace(work) {
  const old = join(dist, `web.${process.pid}.old`);
  try {
    renameSync(out, old);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  try {
    renameSync(work, out);
  } catch (error) {
    // Somebody else was faster, and built the same.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  }
  rmSync(old, { recursive: true, force: true });
}

function hashSources() {
  const hash = createHash("sha256");
  for (const name of SOURCES) {
    for (const path of listFiles(join(root, name)).sort()) {
      const content = readFileSync(path);
      hash.update(`${path.slice(root.length)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}

/** A path that is a file is itself. */
function listFiles(path) {
  try {
    const entries = readdirSync(path, { withFileTypes: true, recursive: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error.code === "ENOTDIR") return [path];
    throw error;
  }
}

function readStamp() {
  try {
    return readFileSync(join(out, ".stamp"), "utf8");
  } catch {
    // Never built, or by hand.
    return undefined;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    const isBuilt = await buildWeb();
    process.stdout.write(isBuilt ? "dist/web is built\n" : "dist/web is as new as its sources\n");
  } catch (error) {
    // Where the mistake is, not where it was found.
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
