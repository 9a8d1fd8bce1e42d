import { describe, expect, test } from "vitest";
import { joinHost } from "#host/socket/start-host.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";

import { openTerminals } from "#test/harness/terminal-screen.ts";

const { lease } = keepReins();

/** A shell whose prompt is not that of the terminal around it. */
const SHELL = "env PS1='in$ ' bash --norc --noprofile -i";

describe("at a terminal", () => {
  test("a shell is typed into, left and found again as it was", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    pane.enter(`reins run -- ${SHELL}`);
    await pane.prompts("in$");
    expect(pane.screen()).toContain("[reins: Ctrl-\\ d detaches]");
    pane.enter("word=kept; echo $((6 * 7)) answers");
    await pane.shows("42 answers");
    await pane.prompts("in$");
    pane.type("echo half a li");
    await pane.shows("in$ echo half a li");
    pane.press("C-\\", "d");
    await pane.prompts("out$");
    const [session] = await reins.sessions();
    // On a line of its own: what was there stays.
    expect(pane.screen()).toContain(
      `in$ echo half a li\n[reins: detached; reins attach ${session?.session_id} brings you back]\n`,
    );
    pane.enter('echo "left with $?"; reins ps');
    await pane.shows(`${session?.session_id}  running  terminal`);
    expect(pane.screen()).toContain("left with 0");
    pane.enter("clear; reins attach");
    await pane.shows(`[reins: attached to ${session?.session_id}; Ctrl-\\ d detaches]`);
    await pane.shows(/42 answers\nin\$ echo half a li$/);
    pane.enter('ne "$word"; exit 7');
    await pane.shows("half a line kept");
    await pane.prompts("out$");
    pane.enter('echo "code $?"');
    await pane.shows("code 7");
  });

  test("a session that has a name is attached to, left and found again by it, also by a new one", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    pane.enter(`reins run --name first -- ${SHELL}`);
    await pane.prompts("in$");
    pane.press("C-\\", "d");
    await pane.shows("[reins: detached; reins attach first brings you back]");
    pane.enter("clear; reins attach first");
    await pane.shows("[reins: attached to first; Ctrl-\\ d detaches]");
    using host = await joinHost(reins.home);
    const { sessions = [] } = (await host?.call("session.list", {})) ?? {};
    const session_id = sessions.find(({ name }) => name === "first")?.session_id ?? "";
    await host?.call("session.rename", { session_id, name: "second" });
    pane.press("C-\\", "d");
    await pane.shows("[reins: detached; reins attach second brings you back]");
    pane.enter("clear; reins attach second");
    await pane.shows("[reins: attached to second; Ctrl-\\ d detaches]");
    pane.enter("exit");
    await pane.prompts("out$");
  });

  test("the program gets the terminal's size, also when it changes", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    pane.enter(`reins run -- ${SHELL}`);
    await pane.prompts("in$");
    pane.enter("trap 'stty size' WINCH; stty size");
    await pane.shows("\n30 100\n");
    pane.resize(90, 20);
    await pane.shows("20 90");
    pane.press("C-\\", "d");
    await pane.prompts("out$");
    pane.resize(80, 25);
    pane.enter("clear; reins attach");
    await pane.shows("25 80");
  });

  test("Ctrl-C, Ctrl-D, Ctrl-Z and the prefix twice are the program's", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    pane.enter(`reins run -- ${SHELL}`);
    await pane.prompts("in$");
    pane.enter("sh -c 'echo one; exec sleep 1000'");
    await pane.shows("\none");
    pane.press("C-c");
    await pane.shows("^C");
    await pane.prompts("in$");
    pane.enter("sh -c 'echo two; exec sleep 1000'");
    await pane.shows("\ntwo");
    pane.press("C-z");
    await pane.shows("Stopped");
    await pane.prompts("in$");
    pane.enter("kill %1; echo three; cat");
    await pane.shows("\nthree");
    pane.enter("read");
    await pane.shows("read\nread");
    pane.press("C-\\", "C-\\");
    await pane.shows("Quit");
    await pane.prompts("in$");
    pane.press("C-d");
    await pane.prompts("out$");
  });

  test("--json is for programs, also at a terminal", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    pane.enter("reins run --json -- sh -c 'test -t 1 && echo $((6 * 7))'");
    await pane.shows('{"type":"stdout","offset":0,"data":"42\\r\\n","encoding":"utf8"}');
    await pane.shows('{"type":"exit","exit_code":0,"signal":null,"reason":"exited","tail":4}');
    await pane.prompts("out$");
  });

  test("two at one session: one types, the other watches and may take over", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const first = await terminals.open();
    const second = await terminals.open();
    first.enter(`reins run -- ${SHELL}`);
    await first.prompts("in$");
    second.enter("reins attach");
    await second.shows(/\[reins: cli:\S+ types here, you watch; Ctrl-\\ t takes over\]/);
    await second.prompts("in$");
    second.enter("echo from the second");
    first.enter("echo from the first");
    await second.shows("\nfrom the first\n");
    expect(second.screen()).not.toContain("from the second");
    second.press("C-\\", "t");
    await first.shows(/\n\[reins: cli:\S+ has taken control; Ctrl-\\ t takes it back\]$/);
    second.enter("echo taken");
    await first.shows("\ntaken\n");
    first.enter("echo lost");
    second.enter("echo still here");
    await first.shows("\nstill here\n");
    expect(first.screen()).not.toContain("lost");
    first.press("C-\\", "t");
    await second.shows("has taken control");
    first.enter("echo back again");
    await second.shows("\nback again\n");
    first.enter("exit 4");
    for (const pane of [first, second]) {
      await pane.prompts("out$");
      pane.enter('echo "code $?"');
      await pane.shows("code 4");
    }
  });

  test("--takeover takes control at once, --view never asks for it", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const first = await terminals.open();
    const second = await terminals.open();
    first.enter(`reins run -- ${SHELL}`);
    await first.prompts("in$");
    second.enter("reins attach --takeover");
    await first.shows("has taken control");
    await second.prompts("in$");
    second.enter("echo second types");
    await first.shows("\nsecond types\n");
    second.press("C-\\", "d");
    await second.prompts("out$");
    // Nobody types now: a watcher does not become the one who does.
    second.enter("clear; reins attach --view");
    await second.prompts("in$");
    expect(second.screen()).not.toContain("types here");
    second.enter("echo a watcher");
    first.press("C-\\", "t");
    first.enter("echo first types");
    await second.shows("\nfirst types\n");
    expect(second.screen()).not.toContain("a watcher");
  });

  test("a user whom no list of users knows is a number to the others", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const first = await terminals.open();
    const second = await terminals.open();
    first.enter(`reins run -- ${SHELL}`);
    await first.prompts("in$");
    second.enter("unshare --user --map-user=54321 reins attach --takeover");
    await first.shows(/cli:54321:\d+\S* has taken control/);
  });

  test("whoever goes away gives control back", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const first = await terminals.open();
    const second = await terminals.open();
    first.enter(`reins run -- ${SHELL}`);
    await first.prompts("in$");
    // The window is closed, the session is not.
    first.close();
    await waitFor("nobody is attached", async () => {
      const [session] = JSON.parse((await reins.run(["ps", "--json"])).stdout).sessions;
      return session?.state.kind === "running" && session.viewers === 0;
    });
    second.enter("reins attach");
    await second.prompts("in$");
    expect(second.screen()).not.toContain("types here");
    second.enter("echo mine now");
    await second.shows("\nmine now\n");
  });
});
