import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { openGate } from "#proc/fixtures/gate.ts";
import { openChildren } from "#proc/fixtures/open-children.ts";

const SIZE = { cols: 80, rows: 24 };
const modes = [
  { mode: "a PTY", size: SIZE },
  { mode: "pipes", size: undefined },
];
const MIB = 1024 * 1024;

describe.each(modes)("input on $mode", ({ size }) => {
  test("comes back from a program that echoes", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("stty -echo 2>/dev/null; echo go; cat", {
      size,
      stdin: true,
    });
    await heard.untilText("go");
    for (let round = 0; round < 50; round += 1) {
      child.write(Buffer.from(`line ${round} ☃\n`));
      await heard.untilText(`line ${round} ☃`);
    }
  });

  test("of a megabyte arrives whole", async () => {
    await using children = await openChildren();
    const content = randomBytes(MIB);
    const line = `stty raw -echo 2>/dev/null; echo go; head -c ${MIB} | sha256sum`;
    const { child, heard } = await children.sh(line, { size, stdin: true });
    await heard.untilText("go");
    child.write(content.subarray(0, MIB / 2));
    child.write(content.subarray(MIB / 2));
    await heard.untilText(createHash("sha256").update(content).digest("hex"));
  });

  test("that nobody reads fills its queue, is refused then, and holds up nobody", async () => {
    await using children = await openChildren();
    const line = "stty raw -echo 2>/dev/null; echo go; exec sleep 1000";
    const stuck = await children.sh(line, { size, stdin: true });
    await stuck.heard.untilText("go");
    const chunk = Buffer.alloc(limits.input_bytes, "x");
    let taken = 0;
    const fill = () => {
      for (;;) {
        stuck.child.write(chunk);
        taken += chunk.length;
      }
    };
    expect(fill).toThrow(expect.objectContaining({ code: "queue_full" }));
    expect(stuck.child.queuedInputBytes).toBeGreaterThan(limits.input_queue_bytes - chunk.length);
    expect(stuck.child.queuedInputBytes).toBeLessThanOrEqual(limits.input_queue_bytes);
    expect(taken).toBeGreaterThanOrEqual(stuck.child.queuedInputBytes);

    const lively = await children.sh("stty -echo 2>/dev/null; echo go; cat", { size, stdin: true });
    await lively.heard.untilText("go");
    lively.child.write(Buffer.from("round trip\n"));
    await lively.heard.untilText("round trip");

    stuck.child.signalTree("SIGKILL");
    await stuck.heard.untilExited();
    expect(stuck.child.queuedInputBytes).toBe(0);
    stuck.child.write(chunk);
    expect(stuck.child.queuedInputBytes).toBe(0);
  });
});

describe("the end of the input", () => {
  test("comes behind what is queued on pipes", async () => {
    await using children = await openChildren();
    using gate = openGate();
    const { child, heard } = await children.sh(`${gate.wait}; wc -c`, { stdin: true });
    child.write(Buffer.alloc(MIB, "x"));
    child.endInput();
    child.endInput();
    child.write(Buffer.from("too late"));
    gate.open();
    await heard.untilFinal();
    expect(heard.text().trim()).toBe(`${MIB}`);
  });

  test("means nothing where stdin is /dev/null", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("echo go; wc -c");
    child.write(Buffer.from("nobody reads this"));
    child.endInput();
    await heard.untilFinal();
    expect(heard.text()).toBe("go\n0\n");
    expect(child.queuedInputBytes).toBe(0);
  });

  test("is a character on a terminal, and whoever reads next goes on reading", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.pty(
      "stty -echo; echo go; cat; echo between; cat; echo end",
    );
    await heard.untilText("go");
    child.write(Buffer.from("one\n"));
    child.endInput();
    await heard.untilText("between");
    child.write(Buffer.from("two\n"));
    await heard.untilText("two");
    child.endInput();
    await heard.untilFinal();
    expect(heard.text()).toBe("go\r\none\r\nbetween\r\ntwo\r\nend\r\n");
  });

  test("of a program that closed its stdin drops the rest", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("exec <&-; echo go; exec sleep 1000", {
      stdin: true,
    });
    await heard.untilText("go");
    child.write(Buffer.alloc(MIB, "x"));
    expect(child.queuedInputBytes).toBe(0);
    child.write(Buffer.from("more"));
    child.endInput();
    expect(heard.status).toBeUndefined();
  });
});
