// `node scripts/record-screens.mjs [name...]`: runs real programs on real terminals of a host and keeps what they print
// in test/recordings, with the sizes that they were given. Needs root, for a machine of their own to look at, and:
// apt-get install vim less htop procps tmux nano mc dialog man-db git python3.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openOutput } from "#app/follow-output.ts";
import { openTestHost } from "#test/harness/host.ts";

const folder = fileURLToPath(new URL("../test/recordings/", import.meta.url));
const home = "/tmp/demo";
/** Enough for a test to cut it anywhere, small enough to be kept. */
const MOST_BYTES = 48 * 1024;
const STEP_MS = 350;

const prompt = "PS1='\\[\\e[1;32m\\]demo\\[\\e[0m\\]:\\[\\e[34m\\]\\w\\[\\e[0m\\]\\$ '";
const bash = `${prompt} exec bash --norc -i`;
const size = (cols, rows) => ({ cols, rows });

/** What runs, and what is typed into it or done to its size. */
const programs = {
  bash: [
    bash,
    "ls --color=always\r",
    "echo one two\x1b[D\x1b[D\x1b[D\x17X\r",
    "\x1b[A\x1b[A",
    "\x12ec",
    "\x07",
    "for i in 1 2 3; do echo line $i; done\r",
    "ls no\t\t",
    "\x03",
  ],
  "bash-resized": [
    bash,
    `echo ${"long ".repeat(30)}\r`,
    size(40, 12),
    "seq 30\r",
    size(100, 30),
    `echo ${"x".repeat(150)}\r`,
    size(61, 9),
    "clear\r",
    "echo end\r",
  ],
  vim: [
    "vim -u NONE -N -c 'set nu hls ruler showcmd' notes.txt",
    "/line\r",
    "nn",
    "ihello \x1b",
    "yy5p",
    ":split\r",
    "\x17w",
    "G",
    "u",
    ":set list\r",
  ],
  "vim-resized": [
    "vim -u NONE -N -c 'syntax on' program.py",
    size(120, 35),
    "\x06",
    size(50, 14),
    "ofoo 漢字 bar\x1b",
    size(80, 24),
    ":vsplit\r",
    size(33, 7),
    ":q\r",
    ":q!\r",
  ],
  "vim-mouse": [
    "vim -u NONE -N -c 'set mouse=a ttymouse=sgr title nowrap'  program.py",
    "jjj",
    "v3j",
    "d",
    ":help\r",
    "\x06",
    "\x06",
    ":q\r",
    "\x1a",
  ],
  less: [
    "less -N notes.txt",
    " ",
    " ",
    "/line 4\r",
    "n",
    "b",
    "G",
    "g",
    size(60, 15),
    "-S",
    "\x1b[C",
    "q",
  ],
  man: ["man -P less ls", " ", " ", "/sort\r", "n", size(100, 20), "b", "q"],
  htop: ["htop -d 3", "", "\x1b[B\x1b[B", "F5", "t", size(100, 20), "", "\x1bOR", "q"],
  top: ["top -d 0.3", "", "1", "", size(70, 18), "", "z", "", "q"],
  tmux: [
    "tmux -f /dev/null -L demo new 'PS1=% sh'",
    "seq 40\r",
    "\x02%",
    "echo right\r",
    '\x02"',
    "\x02o",
    size(90, 28),
    "\x02[",
    "\x1b[A\x1b[A",
    "q",
    "\x02w",
    "q",
    "\x02c",
    "echo 漢字\r",
    "\x02d",
  ],
  nano: [
    "nano notes.txt",
    "typed ",
    "\x16",
    "\x0b\x0b",
    "\x15",
    "\x07",
    "\x18",
    size(64, 18),
    "\x17line\r",
    "\x18",
    "n",
  ],
  mc: [
    "mc -u",
    "",
    "\t",
    "\x1b[B",
    "\x1bOR",
    "",
    "\x1b[21~",
    size(100, 26),
    "\x0f",
    "\x0f",
    "\x1b[21~",
    "\r",
  ],
  dialog: [
    "dialog --title Choice --menu 'Which one?' 15 50 5 1 one 2 two 3 三 --and-widget --yesno 'Sure?' 8 30 --and-widget --gauge 'Wait' 8 40 30 < /dev/tty",
    "\x1b[B",
    "\r",
    "\t",
    "\r",
  ],
  git: [
    "git -c color.ui=always log --graph --stat --color=always | cat; git diff --color=always HEAD~1 | cat",
    "",
    "",
  ],
  python: [
    "python3 -q",
    "import this\r",
    "for i in range(3): print('x' * i)\r\r",
    "print('漢' * 50)\r",
    "1/0\r",
    "\x1b[A",
    "\x15",
    size(50, 20),
    "'a' * 120\r",
    "exit()\r",
  ],
  bars: ["python3 bars.py", "", "", "", "", "", ""],
  wide: ["python3 wide.py", size(40, 15), "", size(33, 15), ""],
  colours: ["python3 colours.py", "", size(60, 20), ""],
  regions: ["python3 regions.py", "", "", ""],
  modes: ["python3 modes.py", "", "", size(70, 22), ""],
  charsets: ["python3 charsets.py", "", ""],
  watch: ["watch -n 0.3 -c 'date +%N; ls --color=always -l'", "", size(60, 16), "", "", "q"],
  alternate: ["sh alternate.sh", "", "", ""],
};

const files = {
  "notes.txt": Array.from({ length: 120 }, (_, n) => `line ${n}\t${"word ".repeat(n % 23)}`).join(
    "\n",
  ),
  "program.py":
    'import os\n\n\ndef main(names):\n    """Greets."""\n    for name in names:\n        print(f"hello {name}", 42)\n\n\nmain(["a", "漢字"])\n'.repeat(
      6,
    ),
  "bars.py": `import sys, time
for name in ("first", "second", "a third one"):
    for i in range(0, 101, 4):
        sys.stdout.write("\\r%-12s [%s%s] %3d%%" % (name, "█" * (i // 4), "·" * (25 - i // 4), i))
        sys.stdout.flush(); time.sleep(0.01)
    print()
for i in range(30):
    sys.stdout.write("\\x1b[?25l\\x1b[3A\\x1b[2K\\rjob a %d\\n\\x1b[2K\\rjob b %d\\n\\x1b[2K\\rjob c %d\\n" % (i, i * 2, i * 3)); sys.stdout.flush(); time.sleep(0.01)
print("\\x1b[?25hdone"); input()
`,
  "wide.py": `import sys, time
text = "漢字かな交じり文 한국어 emoji 👍🏽 👩‍👩‍👧 🇩🇪 e\\u0301 n\\u0303 a\\u0300\\u0301\\u0302 ﷽ "
for i in range(12):
    print(text * (i % 4 + 1)); sys.stdout.flush(); time.sleep(0.06)
for c in (2, 3, 11, 12):
    sys.stdout.write("\\x1b[5;%dHx\\x1b[6;%dH\\x1b[P\\x1b[7;%dH\\x1b[@\\x1b[8;%dH\\x1b[X\\x1b[9;%dH\\x1b[K" % ((c,) * 5))
sys.stdout.flush(); input()
`,
  "colours.py": `import sys, time
for i in range(256): sys.stdout.write("\\x1b[48;5;%dm %3d \\x1b[38;5;%dm\\x1b[49mx" % (i, i, 255 - i))
print("\\x1b[0m")
for i in range(0, 256, 3): sys.stdout.write("\\x1b[38;2;%d;%d;99;48;2;0;%d;%dm▀" % (i, 255 - i, i, i))
print("\\x1b[0m"); sys.stdout.flush(); time.sleep(0.3)
for code in (1, 2, 3, 4, 5, 7, 8, 9, 21, 53, "4:3", "4:4;58:5:9", "4:5;58:2::9:99:199"): sys.stdout.write("\\x1b[%smlook %s\\x1b[0m " % (code, code))
sys.stdout.write("\\n\\x1b[44m\\x1b[K blue to the end\\n\\x1b[2K more\\n\\x1b[0m\\x1b[41m"); print("\\n" * 3 + "\\x1b[J"); sys.stdout.flush(); input()
`,
  "regions.py": `import sys, time
w = sys.stdout.write
w("\\x1b[2J\\x1b[5;15r\\x1b[1;1Hhead\\x1b[20;1Hfoot\\x1b[5;1H")
for i in range(40): w("scrolled %d\\n" % i); sys.stdout.flush(); time.sleep(0.005)
w("\\x1b[?6h\\x1b[1;1Horigin\\x1b[3Linserted\\x1b[2M\\x1b[3S\\x1b[2T\\x1bM\\x1b[s"); sys.stdout.flush(); time.sleep(0.2)
w("\\x1b[1;1H\\x1bM\\x1bM\\x1b[4hin\\x1b[4l\\x1b[u\\x1b[3g\\x1b[5G\\x1bH\\x1b[20G\\x1bH\\r\\ta\\tb"); sys.stdout.flush(); input()
`,
  "modes.py": `import sys, time
w = sys.stdout.write
for mode in (1, 66, 2004, 1000, 1002, 1006, 1004, 45, 12):
    w("\\x1b[?%dh set %d\\r\\n" % (mode, mode)); sys.stdout.flush(); time.sleep(0.02)
w("\\x1b]0;title one\\x07\\x1b]2;title 二\\x1b\\\\\\x1b[3 q\\x1b[?25l"); sys.stdout.flush(); time.sleep(0.2)
w("\\x1b[c\\x1b[6n\\x1b[>c\\x1b[?1$p\\x1bP$qm\\x1b\\\\\\x1b]10;?\\x07\\x1b]11;?\\x07"); sys.stdout.flush(); time.sleep(0.2)
w("\\x1b[?1002l\\x1b[?1003h\\x1b[?1016h\\x1b[?7l" + "no wrap " * 20 + "\\x1b[?7h\\x1b[?25h\\x1b=\\x1b]8;;http://example.com\\x07link\\x1b]8;;\\x07"); sys.stdout.flush(); input()
`,
  "charsets.py": `import sys, time
w = sys.stdout.write
w("\\x1b(0lqqqqk\\r\\nx    x\\r\\nmqqqqj\\x1b(B plain\\r\\n\\x1b)0\\x0elqk\\x0f abc \\x1b7\\x1b(0\\x1b8 q \\x1b(A#\\x1b(B\\r\\n"); sys.stdout.flush(); time.sleep(0.2)
w("\\x1b#8\\x1b[3;3H\\x1b[1;31m\\x1b7\\x1b[0m\\x1b[10;10Hthere\\x1b8back\\x1b[b\\x1b[5b" + "y" * 90 + "\\x1b[!p"); w("\\x1b[1\\"qkept\\x1b[0\\"q gone\\x1b[?2K"); sys.stdout.flush(); input()
`,
  "alternate.sh": `seq 50; tput smcup; tput cup 5 10; tput setaf 2; echo inside; tput rev; echo reversed; tput sgr0; sleep 0.3
tput civis; tput cup 23 79; printf X; sleep 0.2; tput cnorm; tput rmcup; printf 'back\\033[?47h other \\033[?47l again'; sleep 0.2; tput smcup; echo once more; read x`,
};

const only = process.argv.slice(2);
rmSync(home, { recursive: true, force: true });
mkdirSync(home, { recursive: true });
for (const [name, content] of Object.entries(files)) writeFileSync(`${home}/${name}`, content);
await using host = await openTestHost();
const env = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  LANG: "C.UTF-8",
  LINES: "",
  TZ: "UTC",
};
await prepareRepository();
for (const [name, [script, ...steps]] of Object.entries(programs))
  if (only.length === 0 || only.includes(name)) await record(name, script, steps);
rmSync(home, { recursive: true, force: true });

async function record(name, script, steps) {
  const argv = [
    "unshare",
    "-upf",
    "--mount-proc",
    "sh",
    "-c",
    `hostname demo; unset LINES; ${script}`,
  ];
  const request = { kind: "terminal", argv, work_dir: home, env, cols: 80, rows: 24 };
  const { session_id } = await host.create(request);
  await sleep(3 * STEP_MS);
  for (const step of steps) {
    const closed = (await host.operations["session.get"]({ session_id })).state.kind !== "running";
    if (closed) break;
    if (typeof step !== "string") await host.operations["session.resize"]({ session_id, ...step });
    else if (step !== "") await host.operations["session.input"]({ session_id, data: step });
    await sleep(STEP_MS);
  }
  keep(name, session_id);
  await host.operations["session.close"]({ session_id });
}

function keep(name, sessionId) {
  using log = openOutput(host.sessions, sessionId);
  const tail = Math.min(log.tail(), MOST_BYTES);
  const parts = [];
  for (let at = 0; at < tail; ) {
    const { bytes } = log.read(at, { limit: tail - at });
    parts.push(bytes);
    at += bytes.length;
  }
  const resizes = [...log.records(0, tail)]
    .filter(({ kind }) => kind === "resize")
    .map(({ offset, cols, rows }) => ({ offset, cols, rows }));
  const recording = {
    cols: 80,
    rows: 24,
    resizes,
    base64: Buffer.concat(parts).toString("base64"),
  };
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify(recording, null, 2)}\n`);
  console.log(name, tail, resizes.length);
}

async function prepareRepository() {
  const who = "-c user.name=Demo -c user.email=demo@example.com -c init.defaultBranch=main";
  const script = `git ${who} init -q; for i in 1 2 3 4 5; do echo change $i >> program.py; git add .; git ${who} commit -qm "change $i"; done`;
  const { session_id } = await host.create({
    kind: "command",
    argv: ["sh", "-c", script],
    work_dir: home,
    env,
  });
  await host.output(session_id);
}
