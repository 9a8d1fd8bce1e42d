import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Paths from the root of the repository, sorted. */
export function listFiles(...patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "dist/**"] }).sort();
}

export function readFile(path: string): string {
  return readFileSync(`${root}/${path}`, "utf8");
}

export function isTest(path: string): boolean {
  return /^test\/|\/(?:testing|fixtures)\/|\.test\.ts$/.test(path);
}

export interface Import {
  readonly from: string;
  /** `import("…")`: only loaded when it is needed. */
  readonly lazy: boolean;
}

/** Types included: what is only a type today is a value tomorrow. */
export function findImports(text: string): Import[] {
  const found = text.matchAll(/(?<![.\w])(?:from\s|import\s|import(\())\s*["']([^"'\n]+)["']/g);
  return [...found].map((match) => ({ from: match[2] ?? "", lazy: match[1] !== undefined }));
}

/** The package that an import names; undefined for our own files and for Node's modules. */
export function packageOf(from: string): string | undefined {
  if (/^[.#]/.test(from) || from.startsWith("node:") || builtinModules.includes(from))
    return undefined;
  const parts = from.split("/");
  return from.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0];
}
