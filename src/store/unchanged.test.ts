import { expect, test } from "vitest";
import { openTestStore } from "./testing/test-store.ts";
import { Unchanged } from "./unchanged.ts";

test("a token is read once, until something changes here or in another process", () => {
  using setting = openTestStore();
  const { token, secret } = setting.token();
  const { tokens } = setting.store;
  // Its first use is noted, which is a change.
  tokens.find(secret);
  const first = tokens.find(secret);
  expect(tokens.find(secret)).toBe(first);
  setting.store.workspaces.create("a");
  expect(tokens.find(secret)).not.toBe(first);
  expect(tokens.find(secret)).toEqual(first);
  expect(setting.openAnother().tokens.revoke(token.token_id)).toBe(true);
  expect(tokens.find(secret)).toBeUndefined();
});

test("a change that answers with its row is one like the others", () => {
  using setting = openTestStore();
  const { secret } = setting.token();
  const { tokens, workspaces } = setting.store;
  const { workspace_id } = workspaces.create("a");
  tokens.find(secret);
  const first = tokens.find(secret);
  workspaces.rename(workspace_id, "b");
  expect(tokens.find(secret)).not.toBe(first);
});

test("a token that is kept ends at its expiry all the same", () => {
  using setting = openTestStore();
  const { secret } = setting.token({ expires_in_ms: 1000 });
  const { tokens } = setting.store;
  for (let use = 0; use < 3; use += 1) expect(tokens.find(secret)).toBeDefined();
  setting.clock.advance(1000);
  expect(tokens.find(secret)).toBeUndefined();
});

test("what is not there is asked for again, and only so much is kept", () => {
  const reads: string[] = [];
  const kept = new Unchanged<string>({ revision: () => "1" });
  const find = (key: string) =>
    kept.find(key, () => {
      reads.push(key);
      return key === "none" ? undefined : key;
    });
  expect([find("none"), find("none"), find("a"), find("a")]).toEqual([
    ...[undefined, undefined],
    ...["a", "a"],
  ]);
  expect(reads).toEqual(["none", "none", "a"]);
  for (let at = 0; at < 300; at += 1) find(`key ${at}`);
  find("a");
  expect(reads.filter((key) => key === "a")).toHaveLength(2);
});
