import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { isAlive } from "#test/harness/processes.ts";
import type { Reins } from "#test/harness/reins.ts";
import { openTerminals, type Pane } from "#test/harness/terminal-screen.ts";

const { lease } = keepReins();

/**
 * Turns on what would spoil a shell's terminal: another screen, the mouse, bracketed paste, no cursor, other keys.
 * Ends with 3 when a line comes.
 */
const PROGRAM = String.raw`
printf '\033[?1049h\033[?1000h\033[?1006h\033[?2004h\033[?25l\033[?1h\033='
echo spoilt
read line
exit 3
`;
/** A terminal that a program has changed, and one that it has restored. */
const SPOILT = { alternate: true, mouse: true, mouse_sgr: true, cursor: false, keypad: true };
const RESTORED = { alternate: false, mouse: false, mouse_sgr: false, cursor: true, keypad: false };

interface Way {
  readonly name: string;
  readonly leave: (reins: Reins, pane: Pane) => unknown;
  readonly code: number;
  readonly says?: RegExp;
}

const BACK = /^\[reins: detached; reins attach ses_\w+ brings you back\]$/m;

const ways: readonly Way[] = [
  { name: "the program's end", leave: (_reins, pane) => pane.press("Enter"), code: 3 },
  { name: "detaching", leave: (_reins, pane) => pane.press("C-\\", "d"), code: 0, says: BACK },
  { name: "SIGTERM", leave: (_reins, pane) => signal(pane, "SIGTERM"), code: 143, says: BACK },
  { name: "SIGHUP", leave: (_reins, pane) => signal(pane, "SIGHUP"), code: 129, says: BACK },
  { name: "SIGINT", leave: (_reins, pane) => signal(pane, "SIGINT"), code: 130, says: BACK },
  {
    name: "a close from elsewhere",
    leave: (reins) => reins.run(["close", "latest"]),
    code: 129,
    says: /^\[reins: closed: user_requested\]$/m,
  },
  {
    name: "the host's end",
    leave: (reins) => reins.run(["host", "stop"]),
    code: 129,
    says: /^\[reins: closed: host_shutdown\]$/m,
  },
  {
    name: "the host's death",
    leave: async (reins) => process.kill((await reins.hostPid()) ?? 0, "SIGKILL"),
    code: 7,
    says: /^\[reins: the host has gone away; reins logs ses_\w+ shows what was printed\]$/m,
  },
];

describe("a terminal that was lent to a session", () => {
  test.each(ways)("the terminal is as it was after $name", async (way) => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    writeFileSync(join(reins.path, "program"), PROGRAM);
    pane.enter("stty -a > before; reins run -- sh program");
    await pane.shows("spoilt");
    expect(pane.modes()).toMatchObject(SPOILT);
    await way.leave(reins, pane);
    await pane.prompts("out$");
    pane.enter('echo "code $?"; stty -a > after');
    await pane.shows(`code ${way.code}\n`);
    await pane.prompts("out$");
    if (way.says !== undefined) expect(pane.screen()).toMatch(way.says);
    expect(pane.modes()).toMatchObject(RESTORED);
    const [before, after] = ["before", "after"].map((file) => settings(reins, file));
    expect(before).toMatch(/ icanon .* echo /s);
    expect(after).toBe(before);
    // Whoever still had bracketed paste on would see its marks.
    pane.paste("echo pas''ted");
    pane.press("Enter");
    await pane.shows("\npasted\n");
    expect(pane.screen()).not.toContain("200~");
  });

  test("a fault leaves the terminal as it was, too", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const id = await reins.detach(["--tty", "--", "sleep", "1000"]);
    const pane = await terminals.open();
    pane.enter(`stty -a > before; reins attach --since 99 ${id}; echo "code $?"; stty -a > after`);
    await pane.shows("code 2\n");
    await pane.prompts("out$");
    expect(pane.screen()).toContain("There is no offset 99 in this log");
    expect(settings(reins, "after")).toBe(settings(reins, "before"));
  });

  test("a terminal that is closed leaves the session running and no command", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    writeFileSync(join(reins.path, "program"), PROGRAM);
    pane.enter("reins run -- sh program");
    await pane.shows("spoilt");
    const command = pane.foreground();
    pane.close();
    await waitFor("the command ends", () => !isAlive(command));
    expect((await reins.sessions())[0]?.state).toEqual({ kind: "running" });
  });
});

function settings(reins: Reins, file: string): string {
  return readFileSync(join(reins.path, file), "utf8");
}

function signal(pane: Pane, name: NodeJS.Signals): void {
  process.kill(pane.foreground(), name);
}
