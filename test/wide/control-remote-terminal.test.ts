import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SLOW_MS } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";
import { openTerminals, type Pane } from "#test/harness/terminal-screen.ts";

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

/** What `stty` says of the pane, taken when a shell has it. */
async function readModes(pane: Pane, name: string): Promise<string> {
  pane.enter(`clear; stty -a | cksum; echo ${name}`);
  return (await pane.shows(new RegExp(`^${name}$`, "m"))).split("\n")[0] ?? "";
}

test("a shell of a server is typed into, resized, left and found again as it was", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  using terminals = openTerminals(reins);
  const pane = await terminals.open();
  const { url } = server.door;
  const before = await readModes(pane, "before");
  pane.enter(`clear; reins run --remote ${url} --cwd ${reins.path} -- ${SHELL}`);
  await pane.prompts("in$");
  expect(pane.screen()).toContain("[reins: Ctrl-\\ d detaches]");
  pane.enter("trap 'stty size' WINCH; stty size; pwd");
  await pane.shows(`\n30 100\n${reins.path}\n`);
  pane.resize(90, 20);
  await pane.shows("20 90");
  // The terminal may apply a later resize after the attach; the trap would then print into the line.
  pane.enter("trap - WINCH; word=kept; echo $((6 * 7)) answers");
  await pane.shows("42 answers");
  await pane.prompts("in$");
  pane.type("echo half a li");
  await pane.prompts("in$ echo half a li");
  pane.press("C-\\", "d");
  const { session_id: id } = await findOnly(reins);
  await pane.shows(/\[reins: detached; reins attach/);
  await pane.prompts("out$");
  expect(pane.screen().replaceAll("\n", "")).toContain(
    `reins attach ${id} --remote ${url} brings you back]`,
  );
  pane.resize(100, 30);
  expect(await readModes(pane, "between")).toBe(before);
  pane.resize(90, 20);
  pane.enter(`clear; reins attach --remote ${url}`);
  await pane.shows(/42 answers\nin\$ echo half a li$/);
  pane.enter('ne "$word"; exit 7');
  await pane.shows("half a line kept");
  await pane.prompts("out$");
  pane.enter('echo "code $?"');
  await pane.shows("code 7");
  pane.resize(100, 30);
  expect(await readModes(pane, "after")).toBe(before);
});

test("who types at a terminal of a server is one of them; another watches or takes over", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  using terminals = openTerminals(reins);
  const [first, second] = [await terminals.open(), await terminals.open()];
  const { url } = server.door;
  first.enter(`reins run --remote ${url} --cwd / -- ${SHELL}`);
  await first.prompts("in$");
  // The address of a server with one run is that run.
  second.enter(`clear; reins attach ${url}/`);
  await second.prompts("in$");
  second.enter("echo from the second");
  first.enter("echo from the first");
  await second.shows("\nfrom the first\n");
  expect(second.screen()).not.toContain("from the second");
  second.press("C-\\", "t");
  second.enter("echo second, in control");
  await first.shows(/\[reins: \S+ has taken control; Ctrl-\\ t takes it back\]/);
  await first.shows("\nsecond, in control\n");
  // It goes on where it was: nothing is shown again.
  expect(first.screen().split("\nfrom the first\n").length).toBe(2);
  first.enter("echo lost");
  first.press("C-\\", "t");
  first.enter("echo first again");
  await second.shows("\nfirst again\n");
  expect(first.screen()).not.toMatch(/^lost$/m);
  second.press("C-\\", "d");
  await second.prompts("out$");
  second.enter(`clear; reins attach --takeover --remote ${url}`);
  await second.prompts("in$");
  await first.shows(/taken control(?:.*\n)*.*taken control/);
  second.press("C-\\", "d");
  await second.prompts("out$");
  second.enter(`clear; reins attach --view --remote ${url}`);
  await second.prompts("in$");
  second.enter("echo nobody hears");
  first.press("C-\\", "t");
  first.enter("exit 3");
  await second.prompts("out$");
  second.enter('echo "code $?"');
  await second.shows("code 3");
  expect(second.screen()).not.toContain("nobody hears");
});

/** Turns on what would spoil a shell's terminal, says so on another screen, and ends with a line. */
const FULL_SCREEN = String.raw`
printf '\033[?1049h\033[H\033[2J\033[?1000h\033[?1006h\033[?25l\033[?1h\033='
echo spoilt
read line
exit 3
`;
/** A terminal that a program has changed, and one that it has restored. */
const SPOILT = { alternate: true, mouse: true, mouse_sgr: true, cursor: false, keypad: true };
const RESTORED = { alternate: false, mouse: false, mouse_sgr: false, cursor: true, keypad: false };

test("a terminal that a server's session had is as it was on every way out", {
  timeout: SLOW_MS,
}, async () => {
  await using reins = await lease();
  await using server = await openServer(reins);
  using terminals = openTerminals(reins);
  const pane = await terminals.open();
  const { url } = server.door;
  writeFileSync(join(reins.path, "full.sh"), FULL_SCREEN);
  const before = await readModes(pane, "before");
  const id = succeed(
    await reins.run([
      ...["run", "-d", "--tty", "--remote", url, "--cwd", reins.path],
      ...["--", "sh", "full.sh"],
    ]),
  ).trim();
  const ways: readonly [leave: () => unknown, code: number][] = [
    [() => pane.press("C-\\", "d"), 0],
    [() => process.kill(pane.foreground(), "SIGTERM"), 143],
    [() => process.kill(pane.foreground(), "SIGHUP"), 129],
    [() => process.kill(pane.foreground(), "SIGINT"), 130],
    [() => pane.press("Enter"), 3],
  ];
  for (const [leave, code] of ways) {
    pane.enter(`clear; reins attach --remote ${url} ${id}; echo "code $?"`);
    await pane.becomes("spoilt");
    expect(pane.modes()).toMatchObject(SPOILT);
    await leave();
    await pane.shows(`code ${code}`);
    expect(pane.modes()).toMatchObject(RESTORED);
    expect(await readModes(pane, "after")).toBe(before);
  }
});
