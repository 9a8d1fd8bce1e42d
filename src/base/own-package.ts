import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface OwnPackage {
  /** The folder of its package.json. */
  readonly path: string;
  readonly version: string;
}

/** The package that this code is part of: one folder up from an entry of a bundle, two from a chunk and in a checkout. */
export function findOwnPackage(): OwnPackage | undefined {
  for (const folder of ["../", "../../"]) {
    const url = new URL(folder, import.meta.url);
    const version = readVersion(new URL("package.json", url));
    if (version !== undefined) return { path: fileURLToPath(url), version };
  }
  return undefined;
}

function readVersion(url: URL): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(url, "utf8"));
    const isOurs =
      typeof manifest === "object" &&
      manifest !== null &&
      "name" in manifest &&
      manifest.name === "reins";
    return isOurs && "version" in manifest ? String(manifest.version) : undefined;
  } catch {
    // Not there; the other place is tried.
    return undefined;
  }
}
