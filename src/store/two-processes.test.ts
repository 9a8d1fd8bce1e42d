import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { ShellId } from "#contract/ids.ts";
import { repeats } from "#test/harness/repeats.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { openDatabase } from "./open-database.ts";
import { openStore } from "./store.ts";
import { contend } from "./testing/contend.ts";
import { createShellRow } from "./testing/rows.ts";

const timeout = 60_000;
/** Each with its own Node. */
const PROCESSES = repeats({ few: 3, full: 8 });

test("a ticket that several processes try to take is taken once", { timeout }, async () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  using store = openStore({ path, clock: systemClock });
  const content = { label: "", user_id: "ann", role: "viewer", workspaces: "*" } as const;
  const { token } = store.tokens.create(content);
  const { secret } = store.tickets.create(token.token_id);
  const got = await contend(PROCESSES, [path, "take", secret]);
  expect(got.filter((answer) => answer !== null)).toEqual([token.token_id]);
});

test("a shell that many processes want to run in goes to one of them", { timeout }, async () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  using store = openStore({ path, clock: systemClock });
  const row = createShellRow({ shell_id: ShellId.parse("shl_0000000000000001") });
  store.shells.insert(row);
  const got = await contend(PROCESSES, [path, "swap", row.shell_id]);
  expect(got.filter((answer) => answer === true)).toHaveLength(1);
});

test("processes that start on nothing at once agree on one database and one local token", {
  timeout,
}, async () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  const file = join(dir.path, "token");
  const got = await contend(PROCESSES, [path, "local", file]);
  expect(new Set(got.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(got[0]).toMatchObject({ secret: readFileSync(file, "utf8").trim() });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  using store = openStore({ path, clock: systemClock });
  expect(store.tokens.list({ workspaces: "*", limit: 10 }).rows).toHaveLength(1);
});

test("processes that find an older file at once bring it to the new version once", {
  timeout,
}, async () => {
  using dir = openTempDir();
  const path = join(dir.path, "reins.db");
  // A second run of the second step would fail.
  const steps = ["CREATE TABLE one (x)", "CREATE TABLE two (x)"];
  openDatabase(path, steps.slice(0, 1))[Symbol.dispose]();
  expect(await contend(PROCESSES, [path, "migrate", JSON.stringify(steps)])).toEqual(
    Array(PROCESSES).fill(2),
  );
});
