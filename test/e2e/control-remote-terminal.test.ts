import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SLOW_MS } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";
import { openTerminals } from "#test/harness/terminal-screen.ts";

const { lease } = keepReins();

/** A shell whose prompt is not that of the terminal around it. */
const SHELL = "env PS1='in$ ' bash --norc --noprofile -i";

async function openServer(reins: Reins, port = 0) {
  // The host of this directory, and not one of the server's own environment.
  succeed(await reins.run(["ps", "-a"]));
  return await openGatewayProcess({ dataDir: reins.home, port });
}

async function findOnly(reins: Reins) {
  return await waitFor("a session", async () => (await reins.sessions())[0]);
}

test("what is printed and typed while the server is killed arrives once when it is back", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using first = await openServer(reins);
  using terminals = openTerminals(reins);
  const pane = await terminals.open();
  pane.enter(`reins run --remote ${first.door.url} --cwd ${reins.path} -- ${SHELL}`);
  await pane.prompts("in$");
  const { session_id: id } = await findOnly(reins);
  pane.enter("clear");
  await pane.prompts("in$");
  pane.enter("echo begun; until [ -e go ]; do sleep 0.1; done; echo while it was away; cat");
  await pane.shows(/^begun$/m);
  await first.kill("SIGKILL");
  await pane.shows("[reins: the server is away; it is tried again, Ctrl-\\ d detaches]");
  writeFileSync(join(reins.path, "go"), "");
  await waitFor("it is printed", async () =>
    succeed(await reins.run(["logs", id])).includes("\nwhile it was away"),
  );
  pane.enter("typed meanwhile");
  await using _second = await openServer(reins, first.port);
  await pane.shows("[reins: the server is back]");
  await pane.shows(/^while it was away\n(?:.*\n)*typed meanwhile\ntyped meanwhile$/m);
  pane.press("C-d");
  await pane.prompts("in$");
  const printed = succeed(await reins.run(["logs", id]));
  expect(printed.split("while it was away\r\n").length).toBe(2);
  expect(printed.split("typed meanwhile\r\n").length).toBe(3);
  pane.enter("exit 5");
  await pane.prompts("out$");
  pane.enter('echo "code $?"');
  await pane.shows("code 5");
});

test("whoever has a token that may only look watches, and is told so", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  using terminals = openTerminals(reins);
  const pane = await terminals.open();
  const { url } = server.door;
  const at = ["--remote", url, "--cwd", "/"];
  const id = succeed(await reins.run(["run", "-d", "--tty", ...at, "--", "cat"])).trim();
  const token = succeed(await reins.run(["token", "create", "--user", "eve", "--role", "viewer"]));
  pane.enter(`clear; REINS_TOKEN=${token.trim().split(/\s/).at(-1)} reins attach --since 0 ${url}`);
  await pane.shows(/you watch: .*operator/);
  pane.enter("nobody hears");
  pane.press("C-\\", "t");
  await pane.shows(/operator(?:.*\n)*.*operator/);
  succeed(await reins.run(["send", "heard", "--to", id]));
  await pane.shows(/^heard\nheard$/m);
  expect(pane.screen()).not.toContain("nobody hears");
  pane.press("C-\\", "d");
  await pane.prompts("out$");
});
