import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openControl, SLOW_MS } from "#test/harness/control.ts";
import { succeed } from "#test/harness/reins.ts";
import { scripted } from "#test/harness/runtimes.ts";

describe.each(["local", "remote"] as const)("a wait, %s", { timeout: SLOW_MS }, (way) => {
  test("a pattern that would take a backtracking engine forever is answered on what an agent says", async () => {
    await using control = await openControl(way);
    const { reins, run } = control;
    const said = `${"a".repeat(60)}! é\u{1f600} 42`;
    writeFileSync(join(reins.path, "team.yaml"), scripted([{ text: said, repeat: true }]));
    const id = succeed(await reins.run(["run", "-d", "team.yaml", "Begin."])).trim();
    succeed(await run("wait", "--for", "idle", "--to", id));
    const hostile = await run("wait", "--regex", "^(a+)+$", "--timeout", "0", id);
    expect([hostile.code, hostile.stdout]).toEqual([124, ""]);
    // What was said counts, however short the wait is.
    expect(succeed(await run("wait", "--regex", "é. \\d+$", "--timeout", "0", id))).toBe(
      "é\u{1f600} 42\n",
    );
    expect(await run("wait", "--regex", "^b", "--timeout", "50ms", id)).toMatchObject({
      code: 124,
    });
  });
});
