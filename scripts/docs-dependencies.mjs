// Writes docs/dependencies.md from the lock file: node scripts/docs-dependencies.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const readJson = (name) => JSON.parse(readFileSync(new URL(name, root), "utf8"));

export function formatDependencies() {
  const manifest = readJson("package.json");
  const locked = Object.entries(readJson("package-lock.json").packages).filter(
    ([path]) => path !== "",
  );
  const direct = ["dependencies", "optionalDependencies", "devDependencies"].flatMap((kind) =>
    Object.keys(manifest[kind] ?? {}).map((name) => row(name, kind, locked)),
  );
  return `${[...opening(locked.length), ...direct, ...licenses(locked)].join("\n")}\n`;
}

function opening(count) {
  return [
    "# Dependencies",
    "",
    "Made from the lock file by `node scripts/docs-dependencies.mjs`; do not edit. Every version is exact, and `package-lock.json` has",
    `the hash of each of the ${count} packages. \`allowScripts\` of the manifest names those that may`,
    "run a script when they are installed, for an npm that asks.",
    "",
    "This is a list, not an audit: it knows no advisories. `npm audit` asks the registry for those; run it before a release.",
    "Whoever's code is in the published bundle is named with its licence in `dist/LICENSES.txt` and `dist/web/LICENSES.txt`.",
    "",
    "| package | version | licence | |",
    "|---|---|---|---|",
  ];
}

const kinds = {
  dependencies: "installed with Reins",
  optionalDependencies: "installed where it can be",
  devDependencies: "bundled, or for development",
};

function row(name, kind, locked) {
  const found = locked.find(([path]) => path === `node_modules/${name}`)?.[1];
  if (found === undefined) throw new Error(`${name} is not in the lock file`);
  return `| \`${name}\` | ${found.version} | ${found.license ?? "not said"} | ${kinds[kind]} |`;
}

function licenses(locked) {
  const counts = new Map();
  for (const [, { license = "not said" }] of locked)
    counts.set(license, (counts.get(license) ?? 0) + 1);
  const rows = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return [
    ...["", "## Licences of all packages", "", "| licence | packages |", "|---|---|"],
    ...rows.map(([name, count]) => `| ${name} | ${count} |`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL("docs/dependencies.md", root), formatDependencies());
