import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import type { OperationInput } from "#contract/operations.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { createDirectoryOperations } from "./directory.ts";

function openPlace() {
  const { path, [Symbol.dispose]: dispose } = openTempDir();
  for (const name of ["project", "product/inner", "music", ".config"])
    mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, "profile"), "");
  symlinkSync(join(path, "music"), join(path, "prolink"));
  symlinkSync(join(path, "nowhere"), join(path, "probroken"));
  const { "directory.list": list } = createDirectoryOperations({ work_dir: path });
  const names = async (request: OperationInput<"directory.list"> = {}) =>
    (await list(request)).names;
  return { path, list, names, [Symbol.dispose]: dispose };
}

test("without a path the directories of the work dir are listed, by name", async () => {
  using place = openPlace();
  expect(await place.list({})).toEqual({
    path: place.path,
    names: ["music", "product", "project", "prolink"],
    truncated: false,
  });
  expect(await place.list({ path: "~" })).toEqual(await place.list({}));
});

test("behind the last slash stands how a name begins", async () => {
  using place = openPlace();
  const typed = `${place.path}/pro`;
  const found = { path: place.path, names: ["product", "project", "prolink"], truncated: false };
  for (const path of [typed, "pro", "./pro", "~/pro", "music/../pro"])
    expect(await place.list({ path })).toEqual(found);
  for (const path of ["product/", "~/product/", "product/."])
    expect(await place.list({ path })).toMatchObject({
      path: join(place.path, "product"),
      names: ["inner"],
    });
  expect(await place.list({ path: "product/.." })).toMatchObject({ path: place.path });
  expect(await place.list({ path: "/" })).toMatchObject({ path: "/" });
  expect(await place.list({ path: "/us" })).toMatchObject({ path: "/", names: ["usr"] });
});

test("hidden ones are listed for who asks for them or types a dot", async () => {
  using place = openPlace();
  expect(await place.names()).not.toContain(".config");
  expect(await place.names({ hidden: true })).toContain(".config");
  expect(await place.names({ path: ".c" })).toEqual([".config"]);
});

test("more than the limit are cut, and it is said", async () => {
  using place = openPlace();
  expect(await place.list({ limit: 2 })).toMatchObject({
    names: ["music", "product"],
    truncated: true,
  });
  expect(await place.list({ limit: 4 })).toMatchObject({ truncated: false });
  for (let at = 0; at <= limits.directories_listed; at += 1)
    mkdirSync(join(place.path, "music", `m${at}`));
  const { names, truncated } = await place.list({ path: "music/" });
  expect([names.length, truncated]).toEqual([limits.directories_listed, true]);
});

test.each([
  ["nowhere/", "there is no directory"],
  ["profile/", "is no directory"],
  ["nowhere/x", "there is no directory"],
])("%s is refused: it %s", async (path, why) => {
  using place = openPlace();
  await expect(place.list({ path })).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining(why),
    details: { field: "path" },
  });
});
