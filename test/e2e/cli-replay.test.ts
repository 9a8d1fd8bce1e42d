import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import type { Reins } from "#test/harness/reins.ts";
import { openTerminals } from "#test/harness/terminal-screen.ts";

const { lease } = keepReins();

const QUESTIONS = String.raw`\033[6n\033[c\033[>c\033[5n\033]11;?\007\033P+q544e\033\\`;

describe("coming back", () => {
  test("old questions are not answered again, new ones are", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const script = [
      "stty raw -echo",
      `printf '${QUESTIONS}asked\\r\\n'`,
      "head -c 1 > first",
      "printf '\\033[6n'",
      "exec cat > second",
    ].join("; ");
    const id = await reins.detach(["--tty", "--", "sh", "-c", script]);
    await waitForOutput(reins, id, "asked");
    const pane = await terminals.open();
    pane.enter("clear; reins attach");
    await pane.shows("asked");
    pane.type("x");
    const second = await waitForFile(reins, "second", /R$/);
    expect(second).toMatch(/^\x1b\[\d+;\d+R$/);
    expect(readFileSync(join(reins.path, "first"), "latin1")).toBe("x");
  });

  test("logs at a terminal asks nothing either", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    await reins.run(["run", "--tty", "--", "sh", "-c", `printf '${QUESTIONS}asked\\n'`]);
    const [session] = await reins.sessions();
    const pane = await terminals.open();
    pane.enter(`clear; reins logs ${session?.session_id}; head -n 1 > typed`);
    await pane.shows("asked");
    pane.enter("x");
    expect(await waitForFile(reins, "typed", /\n$/)).toBe("x\n");
  });

  test("a sequence that begins in history and ends live is whole", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const script =
      "stty raw -echo; printf 'half \\033[3'; head -c 1 > /dev/null; printf '1mred'; cat";
    const id = await reins.detach(["--tty", "--", "sh", "-c", script]);
    await waitForOutput(reins, id, "half \x1b[3");
    const pane = await terminals.open();
    pane.enter("clear; reins attach");
    await pane.shows("half");
    pane.type("x");
    await pane.shows("half red");
  });

  test("a full-screen program is there again, and so is the shell behind it", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 1} of the book\n`);
    writeFileSync(join(reins.path, "book"), lines.join(""));
    const pane = await terminals.open();
    pane.enter("reins run -- less book");
    await pane.shows("line 29 of the book");
    pane.press("Space");
    await pane.shows("line 58 of the book");
    const before = pane.screen();
    pane.press("C-\\", "d");
    await pane.prompts("out$");
    expect(pane.screen()).toContain("reins run -- less book");
    expect(pane.screen()).not.toContain("of the book");
    pane.enter("reins attach");
    await pane.shows("line 58 of the book");
    await pane.becomes(before);
    expect(pane.modes().alternate).toBe(true);
    pane.press("q");
    await pane.prompts("out$");
    expect(pane.screen()).toContain("reins run -- less book");
  });

  test("keys typed right before detaching from a full-screen program arrive", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    // It does not paint anew, so the keys wait for that until the user detaches.
    const script = "stty raw -echo; printf '\\033[?1049hasked'; head -c 2 > typed";
    const id = await reins.detach(["--tty", "--", "sh", "-c", script]);
    await waitForOutput(reins, id, "asked");
    const pane = await terminals.open();
    pane.enter("clear; reins attach");
    await pane.shows("asked");
    pane.press("x", "y", "C-\\", "d");
    await pane.prompts("out$");
    expect(await waitForFile(reins, "typed", /../)).toBe("xy");
  });

  test("a full-screen program that has painted for long is asked to paint anew", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    // Half a megabyte after it took the screen and the mouse.
    const program = String.raw`
    printf '\033[?1049h\033[?1000h'
    yes "$(printf '%099d' 0)" | head -n 5000
    trap 'n=$((n + 1)); printf "\033[2J\033[Hpainted $n times"' WINCH
    : > ready
    while :; do sleep 0.02; done
  `;
    writeFileSync(join(reins.path, "program"), program);
    const pane = await terminals.open();
    pane.enter("reins run -- sh program");
    await waitFor("it has painted", () => existsSync(join(reins.path, "ready")));
    pane.press("C-\\", "d");
    await pane.prompts("out$");
    pane.enter("reins attach");
    await pane.shows("painted 1 times");
    expect(pane.modes()).toMatchObject({ alternate: true, mouse: true });
    pane.press("C-\\", "d");
    await pane.prompts("out$");
    expect(pane.modes()).toMatchObject({ alternate: false, mouse: false });
    pane.enter("reins attach --since tail");
    await pane.shows("painted 2 times");
    expect(pane.modes()).toMatchObject({ alternate: true, mouse: true });
  });

  test("what has ended is shown once more, with its exit code", async () => {
    await using reins = await lease();
    using terminals = openTerminals(reins);
    const pane = await terminals.open();
    pane.enter("reins run -- sh -c 'echo the end; exit 6'");
    await pane.shows("\nthe end\n");
    await pane.prompts("out$");
    const [session] = await reins.sessions();
    pane.enter(`clear; reins attach ${session?.session_id}; echo "code $?"`);
    await pane.shows("\nthe end\n[reins: exited with code 6]\ncode 6\n");
    expect(pane.screen()).not.toContain("types here");
  });
});

async function waitForOutput(reins: Reins, id: string, text: string): Promise<void> {
  await waitFor(`the session prints ${JSON.stringify(text)}`, async () =>
    (await reins.run(["logs", id])).stdout.includes(text),
  );
}

async function waitForFile(reins: Reins, name: string, content: RegExp): Promise<string> {
  const path = join(reins.path, name);
  return await waitFor(`the file ${name} matches ${content}`, () => {
    const found = existsSync(path) ? readFileSync(path, "latin1") : "";
    return content.test(found) && found;
  });
}
