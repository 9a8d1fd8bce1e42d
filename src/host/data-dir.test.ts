import {
  chmodSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { assertOwnFolder, chooseDataDir, locateDataDir, openDataDir } from "./data-dir.ts";

const openTemp = () => mkdtempDisposableSync(join(tmpdir(), "reins-data-"));

test("makes a private directory, also where it was open to others", () => {
  using temp = openTemp();
  const path = join(temp.path, "a", "b");
  openDataDir(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  chmodSync(path, 0o755);
  openDataDir(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(path, "format"), "utf8")).toBe("1\n");
});

test("says so when a file is in its place, and leaves the file", () => {
  using temp = openTemp();
  const path = join(temp.path, "file");
  writeFileSync(path, "mine");
  expect(() => openDataDir(path)).toThrow(
    expect.objectContaining({
      code: "host_unavailable",
      message: expect.stringContaining("a file in its place"),
    }),
  );
  expect(readFileSync(path, "utf8")).toBe("mine");
});

test.each([
  ["2\n", /written by a newer Reins \(format 2\)/],
  ["99", /written by a newer Reins \(format 99\)/],
  ["", /format is damaged: it holds ""/],
  ["1x", /format is damaged: it holds "1x"/],
  ["junk", /format is damaged: .* repair it with: echo 1 > /],
])("refuses the format %j untouched, and says why", (format, message) => {
  using temp = openTemp();
  writeFileSync(join(temp.path, "format"), format, { mode: 0o600 });
  expect(() => openDataDir(temp.path)).toThrow(
    expect.objectContaining({ code: "unsupported", message: expect.stringMatching(message) }),
  );
  expect(readFileSync(join(temp.path, "format"), "utf8")).toBe(format);
});

test("a directory where nothing can be made is refused at once", () => {
  expect(() => openDataDir("/proc/x")).toThrow(
    expect.objectContaining({
      code: "host_unavailable",
      message: expect.stringContaining("no directory can be made there"),
    }),
  );
});

test("without HOME the home directory of the user is used, and never a relative one", () => {
  const { HOME: before = "" } = process.env;
  process.env.HOME = "";
  try {
    expect(chooseDataDir({ REINS_HOME: "", XDG_STATE_HOME: "" })).toBe(
      join(userInfo().homedir, ".local/state/reins"),
    );
  } finally {
    process.env.HOME = before;
  }
});

test("the socket is in the directory, or at a short path of the user's own", () => {
  expect(locateDataDir("/home/ana/.local/state/reins").socket).toBe(
    "/home/ana/.local/state/reins/host.sock",
  );
  const long = locateDataDir(`/home/${"a".repeat(100)}`);
  expect(long.socket).toMatch(/^\/tmp\/reins-\d+\/[0-9a-f]{16}\.sock$/);
  expect(locateDataDir(`/home/${"b".repeat(100)}`).socket).not.toBe(long.socket);
});

test("a folder for sockets that others could write to, or a link, is not trusted", () => {
  using temp = openTemp();
  const open = join(temp.path, "open");
  mkdirSync(open, { mode: 0o777 });
  chmodSync(open, 0o777);
  symlinkSync(temp.path, join(temp.path, "link"));
  const distrusted = expect.objectContaining({ code: "host_unavailable" });
  expect(() => assertOwnFolder(open)).toThrow(distrusted);
  expect(() => assertOwnFolder(join(temp.path, "link"))).toThrow(distrusted);
  assertOwnFolder(temp.path);
});
