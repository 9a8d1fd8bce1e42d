import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { checkNamedFiles } from "./prompt-file-check.ts";

test("a prompt file that is nowhere is an error that names it", async () => {
  using dir = openTempDir();
  const workingDir = join(dir.path, "below");
  mkdirSync(workingDir);
  writeFileSync(join(dir.path, "RULES.md"), "Be kind.");
  const check = (file: string) =>
    checkNamedFiles({ promptFiles: [file], workingDir, remote: undefined });
  for (const name of ["reins-no-such-file.md", join(dir.path, "none.md"), dir.path])
    await expect(check(name)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/^--prompt-file: the prompt file .* is not there/),
    });
  // As an agent looks for it: from its working dir upwards.
  await check("RULES.md");
  await check(join(dir.path, "RULES.md"));
  const remote = "http://127.0.0.1:7346";
  await checkNamedFiles({ promptFiles: ["reins-no-such-file.md"], workingDir, remote });
});
