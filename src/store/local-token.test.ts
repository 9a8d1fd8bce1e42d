import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTokenFile, openLocalToken } from "./local-token.ts";
import { collect, openTestStore } from "./testing/test-store.ts";

const all = { workspaces: "*", limit: 10 } as const;

test("the first start makes an administrator's token in a file of its owner alone", () => {
  using test = openTestStore();
  const path = join(test.folder, "token");
  const { token, secret } = openLocalToken(test.store, path);
  expect(readFileSync(path, "utf8")).toBe(`${secret}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(token).toMatchObject({
    ...{ user_id: "local", role: "admin", workspaces: "*", label: "local", expires_at: null },
  });
  expect(test.store.tokens.find(secret)?.token_id).toBe(token.token_id);
  expect(readdirSync(test.folder).filter((name) => name.startsWith("token"))).toEqual(["token"]);
});

test("a starter that comes second takes what the first made", () => {
  using test = openTestStore();
  const path = join(test.folder, "token");
  const first = createTokenFile(path);
  expect(createTokenFile(path)).toBe(first);
  expect(readFileSync(path, "utf8")).toBe(`${first}\n`);
});

test("the next start finds the same token", () => {
  using test = openTestStore();
  const path = join(test.folder, "token");
  const { token, secret } = openLocalToken(test.store, path);
  const again = openLocalToken(test.openAnother(), path);
  expect([again.secret, again.token.token_id]).toEqual([secret, token.token_id]);
});

test("a fresh database learns the secret of the file", () => {
  using test = openTestStore();
  using fresh = openTestStore();
  const path = join(test.folder, "token");
  const { secret } = openLocalToken(test.store, path);
  expect(openLocalToken(fresh.store, path).secret).toBe(secret);
  expect(fresh.store.tokens.find(secret)?.role).toBe("admin");
});

test("without the file a new secret is made, and the old one is worth nothing", () => {
  using test = openTestStore();
  const path = join(test.folder, "token");
  const before = openLocalToken(test.store, path);
  const cookie = test.store.tokens.createCookie(before.token);
  rmSync(path);
  const after = openLocalToken(test.store, path);
  expect(test.store.tokens.find(before.secret)).toBeUndefined();
  expect(test.store.tokens.find(cookie.secret)).toBeUndefined();
  expect(test.store.tokens.list(all).rows.map((row) => row.token_id)).toEqual([
    after.token.token_id,
  ]);
});

test("registering the same secret twice gives the same token", () => {
  using test = openTestStore();
  const path = join(test.folder, "token");
  const { token, secret } = openLocalToken(test.store, path);
  const content = { label: "local", user_id: "local", role: "admin", workspaces: "*" } as const;
  expect(test.store.tokens.registerLocal(secret, content).token_id).toBe(token.token_id);
});

test("a file that others could read is closed to them, and that is said", () => {
  using test = openTestStore();
  const path = join(test.folder, "token");
  const { secret } = openLocalToken(test.store, path);
  chmodSync(path, 0o644);
  const said: string[] = [];
  expect(openLocalToken(test.store, path, collect(said)).secret).toBe(secret);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(said).toEqual([expect.stringContaining("others could read the token file")]);
});

test.each(["", "reins_short\n", "something else"])(
  "a file that holds no token is refused and left as it is: %j",
  (content) => {
    using test = openTestStore();
    const path = join(test.folder, "token");
    writeFileSync(path, content, { mode: 0o600 });
    expect(() => openLocalToken(test.store, path)).toThrow(/it holds no token/);
    expect(readFileSync(path, "utf8")).toBe(content);
  },
);

test("a link, a folder and a missing parent are refused", () => {
  using test = openTestStore();
  const made = join(test.folder, "token");
  openLocalToken(test.store, made);
  const [link, folder] = [join(test.folder, "link"), join(test.folder, "folder")];
  symlinkSync(made, link);
  mkdirSync(folder);
  const open = (path: string) => () => openLocalToken(test.store, path);
  expect(open(link)).toThrow(/not a file of yours/);
  expect(open(folder)).toThrow(/not a file of yours/);
  expect(open(join(test.folder, "none", "token"))).toThrow(/cannot be made/);
});
