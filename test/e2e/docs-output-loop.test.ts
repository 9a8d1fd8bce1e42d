import { expect, test } from "vitest";
import { readFile } from "#test/arch/sources.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { runProgram } from "#test/harness/run-program.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const PRINTED = 5_000_000;

/** The block of docs/api.md that reads `/output` until nothing can follow. */
function findLoop(): string {
  const blocks = readFile("docs/api.md").matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks].map(([, text = ""]) => text).find((text) => text.includes("/output?")) ?? "";
}

test("the loop of docs/api.md reads every byte of a session that has ended", async () => {
  await using gateway = await openTestGateway();
  using folder = openTempDir();
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: `seq 1 1000000 | head -c ${PRINTED}`,
  });
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 60_000 });
  const script = `url=${gateway.url} token=${gateway.token} id=${session_id}\n${findLoop()}`;
  const argv = ["timeout", "30", "bash", "-euo", "pipefail", "-c", script];
  const { code, stdout } = await runProgram(argv, { cwd: folder.path, env: process.env });
  expect({ code, length: stdout.length }).toEqual({ code: 0, length: PRINTED });
  const { bytes } = await gateway.host.output(session_id);
  expect(bytes.equals(Buffer.from(stdout))).toBe(true);
});
