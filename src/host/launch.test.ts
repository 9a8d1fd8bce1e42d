import { mkdtempDisposableSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CreateRequest } from "#host/sessions/create-request.ts";
import { planLaunch, writeScript } from "./launch.ts";
import { createRequest } from "./testing/open-test-sessions.ts";

const path = "/usr/bin:/bin";

test("argv runs as it is, a line runs in the shell, and neither is a login shell", () => {
  expect(planLaunch({ argv: ["ls", "", "-l"], path }, "/s")).toMatchObject({
    argv: ["ls", "", "-l"],
    shell: null,
  });
  expect(planLaunch({ command: "a | b", path }, "/s").argv.slice(1)).toEqual(["-c", "a | b"]);
  expect(planLaunch({ path }, "/s").argv).toEqual([expect.stringMatching(/\/(ba)?sh$/), "-l"]);
  expect(planLaunch({ shell: "/bin/zsh", path }, "/s")).toMatchObject({
    argv: ["/bin/zsh", "-l"],
    shell: "/bin/zsh",
  });
});

test("a line that begins like an option is none", () => {
  for (const command of ["-x; echo a", "+e"])
    expect(planLaunch({ command, path }, "/s")).toMatchObject({
      argv: [expect.any(String), "-c", ` ${command}`],
      caption: command,
    });
});

test("a line that is longer than an argument may be becomes a private script", () => {
  using temp = mkdtempDisposableSync(join(tmpdir(), "reins-launch-"));
  const command = `: ${"x".repeat(200_000)}`;
  const launch = planLaunch({ command, path }, temp.path);
  writeScript(launch);
  const file = launch.argv[1] ?? "";
  expect(readFileSync(file, "utf8")).toBe(`${command}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each([
  ["an empty command", { argv: undefined, command: "  " }],
  ["an empty program", { argv: [""] }],
  ["no words at all", { argv: [] }],
  ["both", { command: "a" }],
  ["a NUL byte in an argument", { argv: ["a", "b\0c"] }],
  ["a NUL byte in the work dir", { work_dir: "/a\0b" }],
  ["a NUL byte in the environment", { env: { A: "b\0" } }],
  ["a name with = in the environment", { env: { "A=": "b" } }],
  ["a huge environment", { env: { A: "b".repeat(300_000) } }],
  ["a huge argument", { argv: ["a", "é".repeat(70_000)] }],
  ["a command session without a command", { kind: "command", argv: undefined }],
  ["cols of 0", { cols: 0 }],
  ["negative rows", { rows: -1 }],
  ["a fraction of a column", { cols: 80.5 }],
  ["too many columns", { cols: 4097 }],
  ["a size that is no number", { cols: "80" }],
  ["a negative timeout", { idle_timeout_ms: -1 }],
  ["an unknown kind", { kind: "shell" }],
])("%s is refused before anything is made", (_name, change) => {
  expect(CreateRequest.safeParse({ ...createRequest(), ...change }).success).toBe(false);
});

test("what is not refused", () => {
  expect(CreateRequest.safeParse(createRequest({ cols: 4096, rows: 1 })).success).toBe(true);
});
