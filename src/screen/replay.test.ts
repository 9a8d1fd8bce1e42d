import { join } from "node:path";
import { expect, test } from "vitest";
import { openLogFiles } from "#log/log-files.ts";
import { Emulator } from "#screen/emulator/emulator.ts";
import { renderText } from "#screen/emulator/text.ts";
import { writeSession } from "#test/harness/recordings.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { LogReplay } from "./replay.ts";

const SIZE = { cols: 20, rows: 4 };

test("what an emulator fails on costs what was before it, not what comes after", async () => {
  using dir = openTempDir();
  const bytes = Buffer.from("before bad after");
  const resizes = [
    { offset: 7, ...SIZE },
    { offset: 11, cols: 30, rows: 5 },
  ];
  writeSession(dir.path, { ...SIZE, bytes, resizes });
  using log = openLogFiles(join(dir.path, "output"));
  const emulator = new Emulator({ size: SIZE, convertEol: false });
  const write = emulator.write.bind(emulator);
  emulator.write = (part) => {
    if (Buffer.from(part).includes("bad")) throw new TypeError("no such line");
    write(part);
  };
  using replay = new LogReplay({ emulator, size: SIZE, convertEol: false });
  await replay.advance({
    log,
    to: bytes.length,
    tail: bytes.length,
    sizeAtTail: { cols: 30, rows: 5 },
    deadline: Number.POSITIVE_INFINITY,
    onStep: () => undefined,
  });
  expect(replay).toMatchObject({ exact: false, offset: 16, size: { cols: 30, rows: 5 } });
  expect(renderText(replay.emulator).lines).toEqual(["after", "", "", "", ""]);
});
