// A small agent with a full-screen interface, as those of people: alternate screen, input box, spinner, pastes.
// Enter submits; Enter that arrives together with other text is taken for a part of a paste, and does not.
import { setInterval } from "node:timers";

const PASTE = /\x1b\[200~(.*?)\x1b\[201~/gs;
const SPINNER = ["⠋", "⠙", "⠹", "⠸"];
const FRAME_MS = 40;
const FRAMES_TO_THINK = 12;

const said: string[] = ["agent: hello"];
let box = "";
let frame: number | undefined;
let isEndless = false;

process.stdin.setRawMode(true);
process.stdout.write("\x1b[?1049h\x1b[?2004h\x1b]0;screen agent\x07");
process.stdin.on("data", (chunk) => hear(chunk.toString()));
setInterval(tick, FRAME_MS);
draw();

function hear(chunk: string): void {
  const typed = chunk.replaceAll(PASTE, (_, pasted: string) => {
    box += pasted.replaceAll("\r", "\n");
    return "";
  });
  if (typed === "\x03") interrupt();
  else if (typed === "\r") submit();
  else box += typed.replaceAll("\r", "\n");
  draw();
}

function submit(): void {
  isEndless = box.startsWith("forever");
  said.push(...box.split("\n").map((line) => `you: ${line}`));
  frame = 0;
}

function interrupt(): void {
  if (frame === undefined) {
    process.stdout.write("\x1b[?2004l\x1b[?1049l");
    process.exit(0);
  }
  frame = undefined;
  box = "";
  said.push("agent: interrupted");
}

function tick(): void {
  if (frame === undefined) return;
  frame += 1;
  if (frame >= FRAMES_TO_THINK && !isEndless) {
    said.push(
      `agent: you wrote ${box.split("\n").length} lines, the last is ${box.split("\n").at(-1)}`,
    );
    frame = undefined;
    box = "";
  }
  draw();
}

function draw(): void {
  const spinner = frame === undefined ? "" : `${SPINNER[frame % SPINNER.length]} thinking ${frame}`;
  const rows = [
    ...said,
    spinner,
    "╭────────╮",
    ...box.split("\n").map((line) => `│ > ${line}`),
    "╰────────╯",
  ];
  process.stdout.write(`\x1b[2J\x1b[H${rows.join("\r\n")}`);
}
