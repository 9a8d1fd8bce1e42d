import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFile, root } from "./sources.ts";

const manifest = JSON.parse(readFile("package.json"));
const dependencies: Record<string, string> = {
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
};

test("the lock file names no registry", () => {
  expect(readFile("package-lock.json").includes('"resolved"')).toBe(false);
});

test("every dependency is pinned to one version", () => {
  const loose = Object.entries(dependencies).filter(
    ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
  );
  expect(loose).toEqual([]);
});

test("every dependency has its reason in an ADR", () => {
  const reasons = readFile("docs/adr/0001-toolchain.md");
  expect(Object.keys(dependencies).filter((name) => !reasons.includes(`\`${name}\``))).toEqual([]);
});

test("bin/reins and package.json ask for the same Node, and the pinned one is new enough", () => {
  const door = readFile("bin/reins.mjs");
  const constant = (name: string) => Number(new RegExp(`${name} = (\\d+);`).exec(door)?.[1]);
  const [major, minor] = [constant("OLDEST_MAJOR"), constant("OLDEST_MINOR")];
  expect(manifest.engines.node).toBe(`>=${major}.${minor}`);
  expect(readFile("bin/reins")).toContain(`Node ${major}.${minor} or newer`);
  const [pinnedMajor, pinnedMinor] = manifest.devDependencies.node.split(".").map(Number);
  expect(pinnedMajor).toBe(major);
  expect(pinnedMinor).toBeGreaterThanOrEqual(minor);
});

test.each(["bin/reins", ".ci/run"])("%s is executable", (file) => {
  expect(statSync(join(root, file)).mode & 0o111).toBe(0o111);
});

test("npm install in a checkout warns of nothing that a newcomer cannot change", () => {
  expect(readFile(".npmrc").split("\n")).toContain("loglevel=error");
});

test("programs that the tests lack are named with the command that installs them", async () => {
  const { describeMissing } = await import(join(root, "scripts/system-packages.mjs"));
  const packages = ["chromium", "tmux"];
  expect(describeMissing(packages, { isRoot: false })).toMatch(
    /: sudo apt-get install chromium tmux$/,
  );
  expect(describeMissing(packages, { isRoot: true })).toMatch(/: apt-get install chromium tmux$/);
});
