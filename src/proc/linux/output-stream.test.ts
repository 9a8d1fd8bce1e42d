import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openGate } from "#proc/fixtures/gate.ts";
import { openChildren } from "#proc/fixtures/open-children.ts";

const SIZE = { cols: 80, rows: 24 };
const modes = [
  { mode: "a PTY", size: SIZE },
  { mode: "pipes", size: undefined },
];
const MIB = 1024 * 1024;

/** A terminal that changes nothing of what passes through it. */
const RAW = "stty raw -echo 2>/dev/null;";

function openFile(content: Uint8Array): Disposable & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "reins-proc-"));
  const path = join(folder, "content");
  writeFileSync(path, content);
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

function digest(bytes: Uint8Array): string {
  return `${bytes.length} bytes, ${createHash("sha256").update(bytes).digest("hex")}`;
}

describe.each(modes)("output on $mode", ({ size }) => {
  test.each([
    ["all 256 values", Buffer.from(Array.from({ length: 256 }, (_, value) => value))],
    ["what no UTF-8 decoder would keep", Buffer.from([0xff, 0xc3, 0x28, 0, 0xe2, 0x98, 0x1b])],
    ["a megabyte at random", randomBytes(MIB)],
    ["a line of 8 MiB", Buffer.alloc(8 * MIB, "l")],
  ])("comes with exact bytes: %s", async (_, content) => {
    await using children = await openChildren();
    using file = openFile(content);
    const { heard } = await children.sh(`${RAW} cat ${file.path}`, { size });
    await heard.untilFinal();
    expect(digest(heard.bytes("stdout"))).toBe(digest(content));
    expect(heard.bytesAtExit).toBe(content.length);
    expect(heard.text("stderr")).toBe("");
  });

  test("is complete when a burst is followed by the exit", async () => {
    await using children = await openChildren();
    const burst = async (bytes: number) => {
      const { heard } = await children.sh(`${RAW} head -c ${bytes} /dev/zero; exit 5`, { size });
      await heard.untilFinal();
      expect(heard.bytesAtExit).toBe(bytes);
      expect(heard.status?.exit_code).toBe(5);
    };
    for (const bytes of [8_000, 100_000, 1_000_000])
      for (let round = 0; round < 5; round += 1)
        await Promise.all([
          burst(bytes),
          burst(bytes),
          burst(bytes),
          burst(bytes),
          burst(bytes),
          burst(bytes),
        ]);
  });

  test("is never missing from the shortest of programs", async () => {
    await using children = await openChildren();
    const once = async () => {
      const { heard } = await children.sh("printf x; exit 3", { size });
      await heard.untilFinal();
      return [heard.text(), heard.bytesAtExit, heard.status?.exit_code].join(" ");
    };
    const seen = new Set<string>();
    for (let round = 0; round < 20; round += 1)
      for (const found of await Promise.all(Array.from({ length: 10 }, once))) seen.add(found);
    expect([...seen]).toEqual(["x 1 3"]);
  });

  test("of a prompt arrives while the program waits for its answer", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("printf 'name? '; read name; echo hi $name", {
      size,
      stdin: true,
    });
    await heard.untilText("name? ");
    expect(heard.status).toBeUndefined();
    child.write(Buffer.from("horse\n"));
    await heard.untilText("hi horse");
  });

  test("of a grandchild comes after the exit, and the final after that", async () => {
    await using children = await openChildren();
    using gate = openGate();
    const { heard } = await children.sh(
      `trap '' HUP; (${gate.wait}; printf late) & printf early; exit 2`,
      { size },
    );
    expect(await heard.untilExited()).toEqual({ exit_code: 2, signal: null });
    expect(heard.isFinal).toBe(false);
    expect(heard.text()).toBe("early");
    gate.open();
    await heard.untilFinal();
    expect(heard.text()).toBe("earlylate");
    expect(heard.bytesAtExit).toBe("early".length);
  });

  test("of a grandchild that prints a burst and goes is complete", async () => {
    await using children = await openChildren();
    const once = async () => {
      using gate = openGate();
      const late = `(${gate.wait}; head -c 300000 /dev/zero)`;
      const { heard } = await children.sh(`trap '' HUP; ${RAW} ${late} & exit 0`, { size });
      await heard.untilExited();
      gate.open();
      await heard.untilFinal();
      return heard.length;
    };
    const lengths = await Promise.all(Array.from({ length: 4 }, once));
    expect(lengths.filter((length) => length !== 300_000)).toEqual([]);
  });

  test("of a grandchild that prints without end does not delay the exit", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("trap '' HUP; yes & exit 4", { size });
    expect(await heard.untilExited()).toEqual({ exit_code: 4, signal: null });
    const enough = heard.bytesAtExit + MIB;
    await heard.until("more from the grandchild", () => heard.length > enough);
    expect(heard.isFinal).toBe(false);
    await child.endTree({ grace_ms: 0 });
    await heard.untilFinal();
  });

  test("waits in the kernel while it is paused, and nothing is lost", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh(`${RAW} echo go; read x; seq 200000; echo end`, {
      size,
      stdin: true,
    });
    await heard.untilText("go");
    child.pause();
    child.write(Buffer.from("\n"));
    const other = await children.sh("seq 1000", { size });
    await other.heard.untilFinal();
    expect(heard.text().trim()).toBe("go");
    child.resume();
    await heard.untilFinal();
    const numbers = Array.from({ length: 200_000 }, (_, index) => `${index + 1}`);
    expect(heard.text().split("\n")).toEqual(["go", ...numbers, "end", ""]);
  });

  test("that is paused at the exit is read all the same", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("echo go; read x; printf last; exit 6", {
      size,
      stdin: true,
    });
    await heard.untilText("go");
    child.pause();
    child.write(Buffer.from("\n"));
    expect(await heard.untilExited()).toEqual({ exit_code: 6, signal: null });
    expect(heard.text()).toMatch(/last$/);
    child.resume();
    await heard.untilFinal();
  });
});

describe("pipes", () => {
  test("keep stdout and stderr apart, each in its order", async () => {
    await using children = await openChildren();
    const line = "for i in $(seq 300); do echo out $i; echo err $i >&2; done";
    const { heard } = await children.sh(line);
    await heard.untilFinal();
    const lines = (name: string) => Array.from({ length: 300 }, (_, i) => `${name} ${i + 1}\n`);
    expect(heard.text("stdout")).toBe(lines("out").join(""));
    expect(heard.text("stderr")).toBe(lines("err").join(""));
  });

  test("may end one before the other, and long before the exit", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.sh("echo a; exec >&-; echo b >&2; read x; exit 2", {
      stdin: true,
    });
    await heard.untilText("b\n");
    expect(heard.isFinal).toBe(false);
    child.endInput();
    await heard.untilFinal();
    expect(heard.status?.exit_code).toBe(2);
    expect(heard.text()).toBe("a\nb\n");
  });

  test("are read whole at the exit however large they were made", async () => {
    await using children = await openChildren();
    const script = join(import.meta.dirname, "../fixtures/print-into-large-pipe.ts");
    const { child, heard } = await children.spawn({ argv: [process.execPath, script] });
    child.pause();
    await heard.untilExited();
    expect(heard.bytesAtExit).toBe(MIB);
  });
});

describe("a terminal", () => {
  test("that Ctrl-S has stopped still tells the exit", async () => {
    await using children = await openChildren();
    const { child, heard } = await children.pty("echo go; cat; yes");
    await heard.untilText("go");
    child.write(Buffer.from("\x13"));
    child.write(Buffer.from("\n"));
    child.signalTree("SIGKILL");
    expect(await heard.untilExited()).toEqual({ exit_code: 137, signal: "SIGKILL" });
    await heard.untilFinal();
  });
});
