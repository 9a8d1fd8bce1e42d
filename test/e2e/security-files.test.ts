import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "#test/arch/sources.ts";
import { openReins } from "#test/harness/reins.ts";
import { runProgram } from "#test/harness/run-program.ts";

/** Everything that leaves something in the data directory, by somebody whose files are open to all. */
const LIFE = `
umask 000
reins run -d -- sh -c 'echo printed; : >made-by-child'
reins run -d --tty -- cat
reins run -d --listen 127.0.0.1:0 -- sleep 100
reins run "$EXAMPLES/handoffs.yaml" --exec Hello.
reins token create --user ada --role viewer
reins workspace create website
reins serve --listen 127.0.0.1:0 --json >server.json & server=$!
until [ -s server.json ]; do sleep 0.1; done
url=$(sed 's/.*"listening":"\\([^"]*\\)".*/\\1/' server.json)
curl -sf -o shell.json -H "Authorization: Bearer $(cat "$REINS_HOME/token")" -d '{}' "$url/v1/shells"
kill "$server"; wait "$server" || true
`;

test("everything in the data directory is its owner's alone, whatever the umask", async () => {
  await using reins = await openReins();
  const env = { ...reins.env, EXAMPLES: join(root, "examples") };
  const { code, stderr } = await runProgram(["bash", "-euo", "pipefail", "-c", LIFE], {
    cwd: reins.path,
    env,
  });
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  const all = [reins.home, ...listAll(reins.home)];
  const names = all.map((path) => path.slice(reins.home.length));
  for (const part of ["/token", "/reins.db", "/host.sock", "/host.log", "/gateway.log", "/runs/"])
    expect(names.some((name) => name.startsWith(part))).toBe(true);
  expect(names.filter((name) => name.startsWith("/shells/"))).not.toEqual([]);
  expect(names.filter((name) => name.endsWith("/session.json")).length).toBeGreaterThanOrEqual(4);
  expect(all.filter((path) => (lstatSync(path).mode & 0o077) !== 0)).toEqual([]);
  // What is ours is private; what the child makes is as open as its owner wanted.
  expect(statSync(join(reins.path, "made-by-child")).mode & 0o777).toBe(0o666);
});

function listAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
}
