// `npm run build`: what a package holds, in dist/: the program, the types of what others import, the page.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { buildProgram } from "./build-program.mjs";
import { buildWeb } from "./build-web.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

emptyDist();
await buildProgram(join(root, "dist"));
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
