import { readFileSync } from "node:fs";

/** From the package's own file: one folder up in a bundle, two in a checkout. */
export function version(): string {
  for (const path of ["../package.json", "../../package.json"]) {
    const found = readVersion(new URL(path, import.meta.url));
    if (found !== undefined) return found;
  }
  return "unknown";
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
