import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openScreenSetting, openScreensOf } from "#test/harness/screen-setting.ts";

const MIB = 1024 * 1024;
/** More than what a log retains goes through a real host and is drawn: long on a busy machine. */
const EVICTION = { timeout: 240_000 };

test(
  "a session that was asked for stays exact while its old output is evicted",
  EVICTION,
  async () => {
    await using warm = await openScreenSetting({ warmStepBytes: 4 * MIB });
    const line = "words ".repeat(12);
    const { session_id } = await warm.open(
      `printf '\\033]2;kept\\007'; while read x; do yes '${line}' | head -c 6000000; done`,
    );
    await waitFor("the title", async () => (await warm.screen({ session_id })).offset > 0);
    const saved = join(warm.host.sessions, session_id, "screen.json");
    const savedOffset = () => {
      if (!existsSync(saved)) return 0;
      return JSON.parse(readFileSync(saved, "utf8")).offset;
    };
    for (let tail = 0; tail < limits.output_retained_bytes + 16 * MIB; ) {
      await warm.host.operations["session.input"]({ session_id, data: "\n" });
      const due = tail + 6_000_000;
      tail = await waitFor(
        "the next part",
        async () => {
          const now = await warm.tail(session_id);
          return now >= due && now;
        },
        EVICTION,
      );
      const isDrawn = () => savedOffset() > tail - 10 * MIB;
      await waitFor("it to be drawn in the background", isDrawn, EVICTION);
    }
    expect(await warm.screen({ session_id })).toMatchObject({ exact: true, title: "kept" });
    // A screen that was not drawn meanwhile has a hole in its past.
    rmSync(saved);
    await using late = openScreensOf(warm.host);
    expect(await late.screen({ session_id })).toMatchObject({ exact: false, title: "kept" });
  },
);
