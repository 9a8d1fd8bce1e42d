// Writes docs/images/tour.svg: node scripts/tour/tour.mjs. The terminal that it shows is a session of Reins; what is typed
// into it goes through `reins proto`, and the picture is made of its `reins export --format asciicast`. The commands in it
// are a Reins of their own, with another data directory.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openReins, succeed } from "#test/harness/reins.ts";
import { drawRecording } from "./svg.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const KEY_MS = 30;
/** Time to read what has come. */
const READ_MS = 1200;

const steps = [
  "reins run -d --title build ./build.sh     # not behind this terminal",
  "reins serve --json & sleep 2; kill -9 %1    # the server dies",
  "reins ps                                  # the build does not",
  "reins logs -f                             # each byte, then what comes",
  "clear",
  "reins run -d hello.yaml Hello. 'Go on.'   # an agent; its model is a script",
  "reins wait --for needs-answer; reins answer",
  "reins answer approve-session",
  "reins wait --for idle; reins export | tail -4; cat hello-reins.txt",
];

mkdirSync(join(root, "docs", "images"), { recursive: true });
const svg = await drawRecording(
  await record(),
  "Reins in a terminal: a build and an agent that outlive it",
);
writeFileSync(join(root, "docs", "images", "tour.svg"), svg);

async function record() {
  await using reins = await openReins();
  const inner = { REINS_HOME: join(reins.path, "inner") };
  prepare(reins, inner.REINS_HOME);
  const id = await reins.detach(["--tty", "--", "bash", "--rcfile", join(reins.path, "rc"), "-i"]);
  const keyboard = reins.start(["proto", "--to", id], { input: "pipe" });
  const type = (message) =>
    keyboard.child.stdin?.write(`${JSON.stringify({ type: "send", message, enter: false })}\n`);
  await waitForPrompt(reins, id, 1);
  for (const [index, line] of steps.entries()) {
    for (const key of line) {
      type(key);
      await sleep(KEY_MS);
    }
    await sleep(READ_MS / 2);
    type("\r");
    await waitForPrompt(reins, id, index + 2);
    await sleep(READ_MS);
  }
  const cast = succeed(await reins.run(["export", "--format", "asciicast", id]));
  keyboard.child.stdin?.end();
  await keyboard.ended;
  await reins.run(["host", "stop"], { env: inner });
  return withoutPlaces(cast, reins.path);
}

/** Every prompt tells its number in the title of the window, where one can wait for it and nobody sees it. */
function prepare(reins, home) {
  const rc = [
    `export REINS_HOME='${home}' PATH='${reins.env.PATH}' HOME='${reins.env.HOME}' LANG=C.UTF-8`,
    "set +m; count=0",
    `PROMPT_COMMAND='count=$((count + 1)); printf "\\e]0;prompt-%s.\\a" $count'`,
    `PS1='\\[\\e[1;32m\\]$\\[\\e[0m\\] '`,
    "",
  ];
  const build = [
    "#!/bin/sh",
    "for part in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do",
    '  echo "built part $part of 16"; sleep 1',
    "done",
    "",
  ];
  writeFileSync(join(reins.path, "rc"), rc.join("\n"));
  writeFileSync(join(reins.path, "build.sh"), build.join("\n"), { mode: 0o755 });
  copyFileSync(join(root, "examples", "hello.yaml"), join(reins.path, "hello.yaml"));
}

async function waitForPrompt(reins, id, number) {
  const text = `prompt-${number}.`;
  succeed(await reins.run(["wait", "--to", id, "--text", text, "--timeout", "60s"]));
}

/** The folder of this recording means nothing to anybody. */
function withoutPlaces(cast, path) {
  return cast.replaceAll(path, "~");
}
