import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { chooseShell, parseEventHook } from "./event-hook.ts";

test("a hook is split at the first =", () => {
  expect(parseEventHook("turn.ended=./notify.sh")).toEqual({
    type: "turn.ended",
    command: "./notify.sh",
  });
  expect(parseEventHook("*=a=b")).toEqual({ type: "*", command: "a=b" });
  expect(parseEventHook(" error =A=1 cmd ")).toEqual({ type: "error", command: "A=1 cmd " });
});

test.each(["no-equals", "=cmd", " =cmd", "", "=", "type=", "type= "])("%j is no hook", (word) => {
  expect(() => parseEventHook(word)).toThrow(
    expect.objectContaining({ code: "invalid_request", message: expect.stringContaining("TYPE=") }),
  );
});

test("the user's shell is used only if it is a program with an absolute path", () => {
  using folder = openTempDir();
  const program = join(folder.path, "shell");
  writeFileSync(program, "#!/bin/sh\n");
  chmodSync(program, 0o755);
  const text = join(folder.path, "text");
  writeFileSync(text, "no program", { mode: 0o600 });
  expect(chooseShell({ SHELL: program })).toBe(program);
  for (const SHELL of [undefined, "", "bash", "./shell", text, folder.path, `${program}-not`])
    expect([SHELL, chooseShell({ SHELL })]).toEqual([SHELL, "/bin/sh"]);
});
