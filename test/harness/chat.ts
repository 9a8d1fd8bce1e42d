import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reins } from "./reins.ts";
import { scripted } from "./runtimes.ts";
import { asking, writing } from "./steps.ts";
import { openTerminals, type Pane, type Terminals } from "./terminal-screen.ts";

const FOR_EVER_MS = 600_000;
const MARKDOWN = [
  "# Plan\n\nRead **all** of `it`, see [the page](https://example.org/a).\n\n",
  "- one\n- two\n\n```sh\nmake\n\nmake check\n```\n\n> said so\n\n",
  "这是一段用来检查宽度的中文文字，它比一行要长得多，所以必须在右边缘正确地折行，不能把屏幕弄乱。",
];

/** What an agent is told decides what it does. */
const steps = [
  { when: { last_user_contains: "markdown" }, deltas: MARKDOWN },
  { when: { last_user_contains: "hurry" }, text: "Faster now." },
  ...writing(),
  ...asking("Blue it is."),
  {
    when: { last_user_contains: "slowly" },
    every_ms: FOR_EVER_MS,
    deltas: ["Once **upon** a time.\n\nThen *she*", " went on."],
  },
  {
    when: { last_user_contains: "hostile" },
    text: "\u001b[2J\u001b]0;owned\u0007\u202eevil\u001b[31m &#27;[31m[x](javascript:&#27;y)",
  },
  { text: "Later.", repeat: true },
];

export const CHAT_TEAM = scripted(steps, {
  toolsets: [{ type: "filesystem" }, { type: "user_prompt" }],
  welcome_message: "Be welcome.",
});

/** A terminal of 80×24 with a team beside it. */
export async function openChatPane(
  reins: Reins,
): Promise<Disposable & { pane: Pane; terminals: Terminals }> {
  writeFileSync(join(reins.path, "team.yaml"), CHAT_TEAM);
  const terminals = openTerminals(reins);
  const pane = await terminals.open();
  pane.resize(80, 24);
  pane.enter("clear");
  return { pane, terminals, [Symbol.dispose]: () => terminals[Symbol.dispose]() };
}

/** What the screen shows from a line on, without what is different each time. */
export function seenFrom(pane: Pane, start: string): string {
  const lines = pane.screen().split("\n");
  const from = lines.findIndex((line) => line.startsWith(start));
  return lines
    .slice(Math.max(0, from))
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/\b\d+\.\ds\b/g, "N.Ns")
    .replace(/[\d.]+k? in, [\d.]+k? out/g, "N in, N out");
}

export const READY = "ready | root | scripted/main | N in, N out";
