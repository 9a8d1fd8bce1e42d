import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { listFiles, readFile, root } from "./sources.ts";

const pages = listFiles("*.md", "docs/**/*.md");
const scripts: Record<string, string> = JSON.parse(readFile("package.json")).scripts;

test("every path that the docs name exists", () => {
  const missing = pages.flatMap((page) => {
    const text = readFile(page);
    const paths = [...findLinks(text).map((link) => fromPage(page, link)), ...findPaths(text)];
    return paths.filter((path) => !exists(path)).map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});

test("every heading that a link points to exists", () => {
  const broken = pages.flatMap((page) =>
    findAnchors(readFile(page))
      .filter(({ path, anchor }) => !headings(fromPage(page, path)).includes(anchor))
      .map(({ path, anchor }) => `${page}: ${path}#${anchor}`),
  );
  expect(broken).toEqual([]);
});

test("every page that the code names exists", () => {
  const sources = listFiles("{src,test,bench,scripts}/**/*.{ts,mjs}", "bin/*");
  const missing = sources.flatMap((file) =>
    [...readFile(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
      .filter(([path]) => !exists(path))
      .map(([path]) => `${file}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test("every npm script that the docs name exists", () => {
  const unknown = findCommands(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g).filter(
    ({ name }) => scripts[name] === undefined,
  );
  expect(unknown).toEqual([]);
});

test("every reins command that the docs name exists", () => {
  const known = readCommandNames();
  const unknown = findCommands(/\breins ([a-z][\w-]*)/g).filter(
    ({ name }) => !known.includes(name),
  );
  expect(unknown).toEqual([]);
});

test("every reins command is in the docs", () => {
  const named = findCommands(/\breins ([a-z][\w-]*)/g).map(({ name }) => name);
  expect(readCommandNames().filter((name) => !named.includes(name))).toEqual([]);
});

test("CI runs the README's test command before anything else", () => {
  const command = "npm install && npm test";
  expect(findCode(readFile("README.md")).join("\n").split("\n")).toContain(command);
  const commands = readFile(".ci/run").split("\n");
  expect(commands.find((line) => line.startsWith("npm "))).toBe(command);
});

/** Everything in backticks, inline and fenced. */
function findCode(text: string): string[] {
  const fenced = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].map((match) => match[1] ?? "");
  const rest = text.replace(/^```.*?^```/gms, "");
  return [...fenced, ...[...rest.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "")];
}

function findPaths(text: string): string[] {
  const path =
    /(?<![\w./~$-])(?:(?:src|test|docs|bench|bin|scripts|web|examples|\.ci)\/[\w./*-]*|[\w-]+\.(?:md|jsonc|mjs|config\.ts)\b)/g;
  return findCode(text)
    .flatMap((code) => [...code.matchAll(path)])
    .map(([found]) => found.replace(/[./]+$/, ""));
}

function findLinks(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => match[1] ?? "");
}

function findAnchors(text: string): { path: string; anchor: string }[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map((match) => ({
    path: match[1] ?? "",
    anchor: match[2] ?? "",
  }));
}

/** As GitHub names them. */
function headings(page: string): string[] {
  return [...readFile(page).matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? "")
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replace(/\s/g, "-"),
  );
}

function findCommands(pattern: RegExp): { page: string; name: string }[] {
  return pages.flatMap((page) =>
    findCode(readFile(page))
      .flatMap((code) => [...code.matchAll(pattern)])
      .map((match) => ({ page, name: match[1] ?? match[2] ?? "" })),
  );
}

/** The keys of the table of commands, read as text so that nothing of the cli has to load. */
function readCommandNames(): string[] {
  const table = /export const commands\b[^{]*\{\n(.*?)^\}/ms.exec(readFile("src/cli/commands.ts"));
  return [...(table?.[1] ?? "").matchAll(/^ {2}"?([a-z][\w-]*)"?[:(,]/gm)].map(
    (match) => match[1] ?? "",
  );
}

function fromPage(page: string, link: string): string {
  return link === "" ? page : normalize(join(dirname(page), link));
}

function exists(path: string): boolean {
  return path.includes("*") ? listFiles(path).length > 0 : existsSync(join(root, path));
}

test("the docs say how many input ids a session remembers", () => {
  const most = limits.input_ids_remembered.toLocaleString("en-US");
  for (const page of ["docs/api.md", "docs/embed-client.md", "docs/protocol.md"])
    expect([page, readFile(page).includes(`last ${most}`)]).toEqual([page, true]);
});
