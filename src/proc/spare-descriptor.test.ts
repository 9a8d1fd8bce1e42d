import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** In a process of its own: without descriptors the test itself could do nothing. */
const PROGRAM = `
  import { openSync, readFileSync } from "node:fs";
  import { SpareDescriptor } from "#proc/spare-descriptor.ts";
  const spare = new SpareDescriptor();
  const read = () => readFileSync("/proc/self/stat").length > 0;
  const tried = (work) => { try { return work(); } catch (error) { return error.code; } };
  try { for (;;) openSync("/dev/null"); } catch {}
  const said = [tried(read), spare.lend(read), spare.lend(read), tried(read)];
  spare[Symbol.dispose]();
  said.push(tried(read));
  process.stdout.write(JSON.stringify(said));
`;

test("what is kept is enough to read where no descriptor is left, again and again", () => {
  const limited = [
    "--nofile=64",
    process.execPath,
    "--input-type=module-typescript",
    "-e",
    PROGRAM,
  ];
  const { stdout, stderr } = spawnSync("prlimit", limited, { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(['["EMFILE",true,true,"EMFILE",true]', ""]);
});
