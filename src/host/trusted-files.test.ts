import { chmodSync, mkdtempDisposableSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkTrust } from "./trusted-files.ts";

const openTemp = () => mkdtempDisposableSync(join(tmpdir(), "reins-trust-"));
const ME = 1000;
const OTHER = 1001;

/** Everything is mine but what is named. */
const owned = (foreign: string) => ({
  uid: ME,
  ownerOf: (path: string) => (path.endsWith(foreign) ? OTHER : ME),
});

const refused = (text: string) =>
  expect.objectContaining({ code: "host_unavailable", message: expect.stringContaining(text) });

test("a data directory of another user is refused untouched, with its owner and what to do", () => {
  using temp = openTemp();
  const sentence = `${temp.path} belongs to user ${OTHER}, and you are user ${ME}, so it is not trusted. Run reins as its owner, or choose another data directory with REINS_HOME`;
  expect(() => checkTrust(temp.path, owned(temp.path))).toThrow(refused(sentence));
  expect(readdirSync(temp.path)).toEqual([]);
});

test.each(["reins.db", "reins.db-wal", "token", "config.yaml", "teams", "runs", "sessions"])(
  "%s of another user is refused",
  (name) => {
    using temp = openTemp();
    const path = join(temp.path, name);
    writeFileSync(path, "planted", { mode: 0o600 });
    expect(() => checkTrust(temp.path, owned(name))).toThrow(refused(`${path} belongs to user`));
    checkTrust(temp.path, { uid: ME, ownerOf: () => ME });
    checkTrust(temp.path, { uid: ME, ownerOf: () => 0 });
  },
);

test("a file that others can write to is refused, one that the own group can only where Reins wrote it", () => {
  using temp = openTemp();
  const write = (name: string, mode: number) => {
    writeFileSync(join(temp.path, name), "");
    chmodSync(join(temp.path, name), mode);
  };
  write("config.yaml", 0o664);
  write("token", 0o600);
  checkTrust(temp.path);
  write("config.yaml", 0o666);
  expect(() => checkTrust(temp.path)).toThrow(refused("config.yaml can be changed by other users"));
  write("config.yaml", 0o600);
  write("reins.db", 0o660);
  expect(() => checkTrust(temp.path)).toThrow(refused("chmod go-w"));
});

test("a link is trusted as far as what it leads to", () => {
  using temp = openTemp();
  using elsewhere = openTemp();
  const target = join(elsewhere.path, "open.db");
  writeFileSync(target, "");
  chmodSync(target, 0o666);
  symlinkSync(target, join(temp.path, "reins.db"));
  expect(() => checkTrust(temp.path)).toThrow(refused("reins.db can be changed by other users"));
  chmodSync(target, 0o600);
  checkTrust(temp.path);
  checkTrust(join(temp.path, "not there"));
});
