import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Config } from "#daemon/config.ts";
import { listFiles, readFile, root } from "#test/arch/sources.ts";

const { formatProtocol } = await import(
  new URL("../../scripts/docs-protocol.mjs", import.meta.url).href
);

const { formatDependencies } = await import(
  new URL("../../scripts/docs-dependencies.mjs", import.meta.url).href
);

/** Made by a script of its own from the running page; where that is not there yet, neither are its pictures. */
const SCREENSHOTS = "scripts/screenshots.mjs";

test("docs/protocol.md is what the contract says; node scripts/docs-protocol.mjs writes it", () => {
  expect(readFile("docs/protocol.md")).toBe(formatProtocol());
});

test("docs/dependencies.md is what the lock file says; node scripts/docs-dependencies.mjs writes it", () => {
  expect(readFile("docs/dependencies.md")).toBe(formatDependencies());
});

test("every claim of docs/security.md names a test that exists", () => {
  const claims = [...readFile("docs/security.md").matchAll(/^\| (.+?) \| (.+?) \| (`.+`) \|$/gm)];
  const tests = listFiles("{src,test,web}/**/*.test.ts").map(readFile).join("\n");
  const titles = claims.flatMap((row) => [...(row[3] ?? "").matchAll(/`([^`]+)`/g)]);
  expect(claims.length).toBeGreaterThan(40);
  expect(
    titles.map((title) => title[1] ?? "").filter((title) => !tests.includes(`"${title}"`)),
  ).toEqual([]);
});

test("docs/security.md has a part for everybody who may mean harm, with what is left", () => {
  const parts = readFile("docs/security.md").split(/^## /m).slice(1);
  const without = parts
    .filter((part) => /^\| claim \|/m.test(part))
    .filter((part) => !part.includes("**What is left.**"))
    .map((part) => part.split("\n")[0]);
  expect(without).toEqual([]);
});

test("every setting of config.yaml is in docs/api.md", () => {
  const text = readFile("docs/api.md");
  expect(Object.keys(Config.shape).filter((name) => !text.includes(`\`${name}`))).toEqual([]);
});

test("every key of a team file is in the docs of teams", () => {
  const text = listFiles("docs/{teams,models,toolsets,toolsets-mcp,hooks,permissions}.md")
    .map(readFile)
    .join("\n");
  const { properties } = JSON.parse(readFile("schema/team.schema.json"));
  const agent = properties.agents.additionalProperties.properties;
  const keys = [...Object.keys(properties), ...Object.keys(agent)];
  expect(keys.length).toBeGreaterThan(20);
  expect(keys.filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
});

test("every picture that the README shows is there", () => {
  const shown = [...readFile("README.md").matchAll(/<img src="([^"]+)"/g)].map((match) => match[1]);
  expect(shown).toContain("docs/images/tour.svg");
  const made = existsSync(join(root, SCREENSHOTS))
    ? shown
    : shown.filter((path) => path?.endsWith(".svg"));
  expect(made.filter((path) => !existsSync(join(root, path ?? "")))).toEqual([]);
});
