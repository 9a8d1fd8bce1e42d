// Whoever's code is in a bundle is named with it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** `inputs`: the paths of the files that went into the bundle. */
export function bundledLicenses(inputs) {
  const paths = inputs.map((path) => /(?:^|\/)(node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
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
