import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openChatPane, seenFrom } from "#test/harness/chat.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { isAlive } from "#test/harness/processes.ts";
import type { Reins } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";
import type { Pane } from "#test/harness/terminal-screen.ts";

const { lease } = keepReins();

const WORKS = /Then she\n\n>\nworking/;

interface Way {
  readonly name: string;
  readonly leave: (reins: Reins, pane: Pane) => unknown;
  readonly code: number;
  readonly says: RegExp;
  /** No turn runs after it. */
  readonly ends?: true;
  /** Leaves by the same steps as another one. */
  readonly isTwin?: true;
}

const BACK = /reins: left; (ses_\w+) goes on, and reins attach \1\s+comes back/;

const ways: readonly Way[] = [
  { name: "Ctrl-D", leave: (_reins, pane) => pane.press("C-d"), code: 0, says: BACK },
  {
    name: "/detach",
    leave: (_reins, pane) => pane.enter("/detach"),
    code: 0,
    says: BACK,
    isTwin: true,
  },
  { name: "SIGTERM", leave: (_reins, pane) => signal(pane, "SIGTERM"), code: 143, says: BACK },
  {
    name: "SIGHUP",
    leave: (_reins, pane) => signal(pane, "SIGHUP"),
    code: 129,
    says: BACK,
    isTwin: true,
  },
  {
    name: "a mistake of ours",
    leave: (_reins, pane) => signal(pane, "SIGUSR2"),
    code: 1,
    says: /Error: a mistake/,
  },
  {
    name: "a close from elsewhere",
    leave: (reins) => reins.run(["close", "latest"]),
    code: 0,
    says: /reins: ses_\w+ has ended: user_requested/,
    ends: true,
  },
  {
    name: "the host's death",
    leave: async (reins) => process.kill((await reins.hostPid()) ?? 0, "SIGKILL"),
    code: 7,
    says: /reins: the host has gone away; reins attach ses_\w+ goes on/,
    ends: true,
  },
];

/** Lets a test make a mistake in a process of ours. */
const MISTAKE = 'process.on("SIGUSR2", () => { throw new Error("a mistake"); });';

describe("a terminal that showed the chat view", () => {
  let reins: Reins;
  /** Whether a turn still runs after the test before, whose view the next one opens. */
  let isSpeaking = false;
  beforeAll(async () => {
    reins = await lease();
  });
  afterAll(() => reins[Symbol.asyncDispose]());

  test.each(rows({ few: ways.filter(({ isTwin }) => !isTwin), full: ways }))(
    "is as it was after $name",
    async ({ leave, code, says, ends }) => {
      using chat = await openChatPane(reins);
      const { pane } = chat;
      const mistake = join(reins.path, "mistake.mjs");
      writeFileSync(mistake, MISTAKE);
      pane.enter("stty -g > before");
      const command = isSpeaking ? "attach" : "run team.yaml";
      pane.enter(`NODE_OPTIONS='--import=${mistake}' reins ${command}; echo "code=$?"`);
      if (!isSpeaking) {
        await pane.shows(/^ready \|/m);
        pane.enter("speak slowly");
      }
      await pane.shows(WORKS);
      isSpeaking = ends !== true;
      await leave(reins, pane);
      await pane.shows(`code=${code}`);
      await pane.shows(says);
      await pane.prompts("out$");
      pane.enter("stty -g > after; echo compared");
      await pane.shows(/^compared/m);
      const read = (name: string) => readFileSync(join(reins.path, name), "utf8");
      expect(read("after")).toBe(read("before"));
      expect(pane.modes()).toMatchObject({ cursor: true, alternate: false });
      // Marked it would be, if anybody had asked for that.
      pane.paste("echo pasted as it is");
      expect(await pane.shows("echo pasted as it is")).not.toContain("200~");
    },
  );
});

test("closing the window leaves the turn running, and attaching brings it back", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane, terminals } = chat;
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  pane.enter("hello");
  await pane.shows(/Later\.\n\n>\nready/);
  pane.enter("speak slowly");
  await pane.shows(WORKS);
  const before = seenFrom(pane, "> hello");
  const pid = pane.foreground();
  const other = await terminals.open();
  pane.close();
  await waitFor("the view ends with its window", () => !isAlive(pid));
  other.resize(80, 24);
  other.enter("clear; reins attach");
  await other.shows(WORKS);
  expect(seenFrom(other, "> hello")).toBe(before);
  other.press("Escape");
  await other.shows(/Then she\n· The turn was interrupted\.\n\n>\nready/);
  other.enter("hello again");
  await other.shows(/> hello again\n\nLater\.\n\n>\nready/);
  // Nothing is doubled: what came from the snapshot did not come from the events as well.
  const count = (text: string) => other.screen().split(text).length - 1;
  expect([count("Once upon a time."), count("> hello\n"), count("Then she")]).toEqual([1, 1, 1]);
});

test("a session that was closed shows what was said, and lets go", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane } = chat;
  const said = await reins.run(["run", "team.yaml", "--exec", "hello"]);
  const id = /ses_\w+/.exec(said.stderr)?.[0] ?? "";
  await reins.run(["close", id]);
  pane.enter(`clear; reins attach ${id}; echo "code=$?"`);
  await pane.shows("code=0");
  expect(seenFrom(pane, "> hello")).toMatch(
    /^> hello\n\nLater\.\nreins: ses_\w+ has ended: user_requested\ncode=0/,
  );
});

test("two views of a session show the same, and either answers for both", async () => {
  await using reins = await lease();
  using chat = await openChatPane(reins);
  const { pane, terminals } = chat;
  pane.enter("reins run team.yaml");
  await pane.shows(/^ready \|/m);
  pane.enter("please write");
  await pane.shows("[y] once");
  const [other, watcher] = [await terminals.open(), await terminals.open()];
  other.enter("clear; reins attach");
  watcher.enter("clear; reins attach --view");
  await other.shows("[y] once");
  await watcher.shows("(watching)");
  watcher.press("y");
  other.press("s");
  for (const view of [pane, other, watcher])
    await view.shows(/· write_file is allowed, and everything from now on[\s\S]*It is written\./);
});

function signal(pane: Pane, name: NodeJS.Signals): void {
  process.kill(pane.foreground(), name);
}
