import { describe, expect, test } from "vitest";
import { completeSpec, openChildren } from "#proc/fixtures/open-children.ts";
import { Recorder } from "#proc/fixtures/recorder.ts";
import { unsupportedOs, unsupportedSpawner } from "#proc/unsupported.ts";

describe("the spawner of this platform", () => {
  test("runs a program", async () => {
    await using children = await openChildren();
    const { heard } = await children.sh("echo hi; exit 3");
    await heard.untilFinal();
    expect(heard.text()).toBe("hi\n");
    expect(heard.status).toEqual({ exit_code: 3, signal: null });
  });
});

describe("a platform without one", () => {
  test("answers every spawn with why, and has nothing to end", async () => {
    using spawner = unsupportedSpawner(unsupportedOs("sessions do not run on plan9"));
    const spawn = () => spawner.spawn(completeSpec({ argv: ["true"] }), new Recorder());
    expect(spawn).toThrow(
      expect.objectContaining({ code: "unsupported_os", message: "sessions do not run on plan9" }),
    );
    expect(await spawner.endLeftovers([])).toEqual([]);
  });
});
