import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rows } from "#test/harness/repeats.ts";
import { runProgram } from "#test/harness/run-program.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { planCommand } from "./background.ts";

/**
 * When `job` ends: after the shell that started it (late), before it (early), or it never ran. The shell
 * of the test machine is asked as well, so the table cannot be wrong about it.
 */
type Ends = "late" | "early" | "never";

interface Unchanged {
  readonly command: string;
  readonly ends: Ends;
  readonly leaves?: true;
}

/** Command, what is left of it, and whether an inner `&` is. */
const promoted: readonly (readonly [string, string, "leaves"?])[] = [
  ["job &", "job "],
  ["job&", "job"],
  ["job a b  &  ", "job a b    "],
  ["job &\n", "job \n"],
  ["job &\n\n\t\n", "job \n\n\t\n"],
  ["job & # note", "job  # note"],
  ["job & # note &", "job  # note &"],
  ["job &# note", "job  # note"],
  ["job a&# note", "job a # note"],
  ["job a&\\\n# note", "job a \\\n# note"],
  ["job &\n# one &\n# two\n", "job \n# one &\n# two\n"],
  ["job a \\\n&", "job a \\\n"],
  ["job &\\\n", "job  \\\n"],
  ["job a \\& &", "job a \\& "],
  ["job a\\\\&", "job a\\\\"],
  ['job "a &" &', 'job "a &" '],
  ["job 'a &' &", "job 'a &' "],
  ["job $'a\\' &' &", "job $'a\\' &' "],
  ["job é😀 &", "job é😀 "],
  ["echo 😀😀; job 'ü &' & # 😀", "echo 😀😀; job 'ü &'  # 😀"],
  ["job 2>&1 &", "job 2>&1 "],
  ["job >&2 &", "job >&2 "],
  ["job >&2&", "job >&2"],
  ["job &> f &", "job &> f "],
  ["echo a | job - &", "echo a | job - "],
  ["job a |& cat &", "job a |& cat "],
  ["true && job &", "true && job "],
  ["false || job &", "false || job "],
  ["cd . && job a && echo b &", "cd . && job a && echo b "],
  ["echo a; job b &", "echo a; job b "],
  ["echo a\necho b >> f\njob c &\n", "echo a\necho b >> f\njob c \n"],
  ["#!/bin/bash\nset -e\njob &", "#!/bin/bash\nset -e\njob "],
  ["nohup job &", "nohup job "],
  ["setsid -w job &", "setsid -w job "],
  ["exec job &", "exec job "],
  ["A=1 job &", "A=1 job "],
  ["! job &", "! job "],
  ["{ job; } &", "{ job; } "],
  ["{ job; }&#c", "{ job; } #c"],
  ["( job ) &", "( job ) "],
  ["for i in 1; do job $i; done &", "for i in 1; do job $i; done "],
  ["if true; then job; fi &", "if true; then job; fi "],
  ["case a in a) job ;; esac &", "case a in a) job ;; esac "],
  ["f() { job; }; f &", "f() { job; }; f "],
  ["(( 6 & 3 )) && job &", "(( 6 & 3 )) && job "],
  ["job a\\(b '(' `echo \\`echo \\(\\`` &", "job a\\(b '(' `echo \\`echo \\(\\`` "],
  ["job '((((((((((' `echo \\`echo a\\`` &", "job '((((((((((' `echo \\`echo a\\`` "],
  ["a=(1 2); [[ b =~ (b) ]] && job $a &", "a=(1 2); [[ b =~ (b) ]] && job $a "],
  ["[[ a && b ]] && job &", "[[ a && b ]] && job "],
  ["job - <<< 'a &' &", "job - <<< 'a &' "],
  ["job - <<X &\none &\ntwo\nX\n", "job - <<X \none &\ntwo\nX\n"],
  ["job - <<X&\none\nX", "job - <<X\none\nX"],
  ["job - <<X&# note\none\nX", "job - <<X # note\none\nX"],
  ["job - <<'X' & # note\n$(one &)\nX\n# end", "job - <<'X'  # note\n$(one &)\nX\n# end"],
  ["job - <<-X &\n\tone &\n\tX\n", "job - <<-X \n\tone &\n\tX\n"],
  ["cat <<X\none &\nX\njob &", "cat <<X\none &\nX\njob "],
  ["job a & job b &", "job a & job b ", "leaves"],
  ["job a &\njob b &\n", "job a &\njob b \n", "leaves"],
  ["{ job a & job b; } &", "{ job a & job b; } ", "leaves"],
  ["job $(true & echo a) &", "job $(true & echo a) ", "leaves"],
];

const unchanged: readonly Unchanged[] = [
  { command: "job", ends: "early" },
  { command: "job a \\&", ends: "early" },
  { command: 'job "a &"', ends: "early" },
  { command: "job 'a &'", ends: "early" },
  { command: "job $'a\\' &'", ends: "early" },
  { command: "job # note &", ends: "early" },
  { command: "job\n# note &\n", ends: "early" },
  { command: "# job &", ends: "never" },
  { command: "job && true", ends: "early" },
  { command: "job &&", ends: "never" },
  { command: "job |&", ends: "never" },
  { command: "job |& cat", ends: "early" },
  { command: "job >&2", ends: "early" },
  { command: "job 2>&1", ends: "early" },
  { command: "job &>f", ends: "early" },
  { command: "job &>>f", ends: "early" },
  { command: "job >& f", ends: "early" },
  { command: "job 0<&-", ends: "early" },
  { command: "job $((6&3))", ends: "early" },
  { command: "job; (( 6 & 3 ))", ends: "early" },
  { command: "[[ a & b ]]; job", ends: "never" },
  { command: "job - <<< 'a &'", ends: "early" },
  { command: "job - <<X\na &\nX\n", ends: "early" },
  { command: "job - <<'X'\n$(a &)\nX", ends: "early" },
  { command: "job - <<X\na &", ends: "early" },
  { command: "case a in a) true ;& b) job ;; esac", ends: "early" },
  { command: "case a in a) true ;;& a) job ;; esac", ends: "early" },
  { command: "eval 'true &'; job", ends: "early" },
  { command: "job & ;", ends: "never" },
  { command: "job & &", ends: "never" },
  { command: "& job", ends: "never" },
  { command: "(job &", ends: "never" },
  { command: "job & )", ends: "never" },
  { command: "job & }", ends: "never" },
  { command: "job 'a &", ends: "never" },
  { command: "job $(if) &", ends: "never" },
  { command: "job; time &", ends: "never" },
  { command: "job; ! &", ends: "never" },
  { command: "job && time & # note", ends: "never" },
  { command: "job (a) &", ends: "never" },
  { command: "job a( &", ends: "never" },
  { command: "job( &", ends: "never" },
  { command: "job (a &", ends: "never" },
  { command: "job \\\n ( &", ends: "never" },
  { command: "job a \\\n( &", ends: "never" },
  { command: "job $(echo a(b) &", ends: "never" },
  { command: "job & echo hi", ends: "late", leaves: true },
  { command: "job & disown", ends: "late", leaves: true },
  { command: "job & echo $! > f", ends: "late", leaves: true },
  { command: "job &\necho hi", ends: "late", leaves: true },
  { command: "job & true # note &", ends: "late", leaves: true },
  { command: "job & wait", ends: "early", leaves: true },
  { command: "job a & job b & wait", ends: "early", leaves: true },
  { command: "(job &)", ends: "late", leaves: true },
  { command: "{ job & }", ends: "late", leaves: true },
  { command: "if true; then job & fi", ends: "late", leaves: true },
  { command: "for i in 1; do job & done", ends: "late", leaves: true },
  { command: "case a in a) job & esac", ends: "late", leaves: true },
  { command: "f() { job & }; f", ends: "late", leaves: true },
  { command: "f() { job & }", ends: "never", leaves: true },
  { command: "echo $(job &)", ends: "early", leaves: true },
  { command: "echo `job &`", ends: "early", leaves: true },
  { command: 'echo "$(job > f &)"', ends: "late", leaves: true },
  { command: "cat <<X\n$(job &)\nX", ends: "early", leaves: true },
  { command: "coproc job > f &", ends: "late", leaves: true },
  // A carriage return is a word to bash: the command after the `&`.
  { command: "job &\r\n", ends: "late", leaves: true },
  { command: "echo a\r\njob &\r\n", ends: "late", leaves: true },
  { command: "job &\u00a0", ends: "late", leaves: true },
];

const promotedRows = promoted.map(([command, rest, leaves]) => ({
  title: JSON.stringify(command),
  command,
  plan: { command: rest, isBackground: true, leavesChildren: leaves !== undefined },
}));

const unchangedRows = unchanged.map(({ command, ends, leaves = false }) => ({
  title: JSON.stringify(command),
  command,
  ends,
  plan: { command, isBackground: false, leavesChildren: leaves },
}));

/** Each third of them, with the first and the last. */
function some<T>(full: readonly T[]): readonly T[] {
  const few = full.filter((_row, index) => index % 3 === 0 || index === full.length - 1);
  return rows({ few, full });
}

test("the table has at least 60 commands, half of which stay as they are", () => {
  const titles = [...promotedRows, ...unchangedRows].map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.length).toBeGreaterThanOrEqual(60);
  expect(unchanged.length).toBeGreaterThanOrEqual(titles.length / 2);
});

test.each(promotedRows)("$title goes to the background", ({ command, plan }) => {
  expect(planCommand(command)).toEqual(plan);
});

test.each(unchangedRows)("$title stays as it is", ({ command, plan }) => {
  expect(planCommand(command)).toEqual(plan);
});

test.concurrent.each(some(promotedRows))(
  "bash ends before the job of $title, but not without the &, and prints the same",
  async ({ command, plan }) => {
    const [before, after] = await Promise.all([runInBash(command), runInBash(plan.command)]);
    expect(new Set(before.ends)).toEqual(new Set(["late"]));
    expect(after.ends).toContain("early");
    expect(after.printed).toEqual(before.printed);
  },
);

test.concurrent.each(some(unchangedRows))(
  "bash agrees that the job of $title ends $ends",
  async ({ command, ends }) => {
    const run = await runInBash(command);
    expect(new Set(run.ends)).toEqual(new Set(ends === "never" ? [] : [ends]));
  },
);

test("a command without the character & stays as it is", () => {
  const piece = fc.constantFrom(
    ..."abc \n\t\"'\\`$(){}[]<>|;#!=*?~-😀\r".split(""),
    "<<X\n",
    "$((",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const command = pieces.join("");
      expect(planCommand(command)).toEqual({ command, isBackground: false, leavesChildren: false });
    }),
  );
});

test("whatever it is given, at most one & is missing from what it answers", () => {
  const piece = fc.constantFrom(
    ...[
      "a",
      "&",
      "&",
      " & ",
      "&&",
      "|&",
      " ",
      "\n",
      "'",
      '"',
      "\\",
      "#",
      "$(",
      ")",
      "(",
      "{ ",
      "; }",
    ],
    ...["<<X\n", "X\n", ">", "😀", "`", "((", "))", "if a; then ", "; fi", ";"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const command = pieces.join("");
      const plan = planCommand(command);
      if (!plan.isBackground) {
        expect(plan.command).toBe(command);
        return;
      }
      const cut = [...command.matchAll(/&/g)].map(({ index }) => [
        command.slice(0, index) + command.slice(index + 1),
        `${command.slice(0, index)} ${command.slice(index + 1)}`,
      ]);
      expect(cut.flat()).toContain(plan.command);
      expect(planCommand(plan.command).isBackground).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test("an inner & is found in a substitution that only newer shells know", () => {
  const command = ["echo $", "{ job & }"].join("");
  expect(planCommand(command)).toEqual({ command, isBackground: false, leavesChildren: true });
});

test("a script of 200 KB is promoted", () => {
  const lines = 'echo "one & two" $(date) # three &\n'.repeat(6000);
  expect(lines.length).toBeGreaterThan(200_000);
  expect(planCommand(`${lines}job &\n`)).toEqual({
    command: `${lines}job \n`,
    isBackground: true,
    leavesChildren: false,
  });
});

test.each([
  ["groups", "( ".repeat(50_000)],
  ["closed groups", `${"( ".repeat(50_000)}job${" )".repeat(50_000)} &`],
  ["substitutions", `echo ${"$(".repeat(50_000)}`],
  ["closed substitutions", `echo ${"$(".repeat(50_000)}job${")".repeat(50_000)} &`],
  ["coprocesses", `${"coproc ".repeat(30_000)} &`],
  ["conditions", `${"if a; then ".repeat(20_000)} &`],
])("%s too deep to be parsed stay as they are", (_name, nested) => {
  const command = `${nested} &`;
  expect(planCommand(command)).toEqual({ command, isBackground: false, leavesChildren: false });
});

test.each([
  ["braces", "{a,".repeat(60_000)],
  ["old arithmetic", "$[".repeat(60_000)],
  ["here-documents", `cat ${"<<X ".repeat(50_000)}`],
  ["characters", "a ".repeat(300_000)],
])("more %s than are parsed stay as they are", (_name, many) => {
  const command = `${many} &`;
  expect(planCommand(command)).toEqual({ command, isBackground: false, leavesChildren: false });
});

/**
 * Bash reads this before the command. A subshell does not inherit the trap; every job inherits the copy of
 * the output, so that a run is over when its last job is, wherever that one prints to.
 */
const BEFORE = `exec 9>&1
trap ': > "$MARKS/returned"' EXIT
`;

interface BashRun {
  /** One for each job. */
  readonly ends: readonly string[];
  /** Sorted: two jobs print in any order. */
  readonly printed: readonly string[];
}

/** Says how it ended as soon as its shell has left its mark, or when that took too long to come. */
const JOB = `#!/bin/sh
echo "job $*"
if [ "$1" = - ]; then cat; fi
for i in 1 2 3 4 5; do
  if [ -e "$MARKS/returned" ]; then echo late >> "$MARKS/ends"; exit; fi
  sleep 0.08
done
echo early >> "$MARKS/ends"
`;

async function runInBash(command: string): Promise<BashRun> {
  using dir = openTempDir();
  const cwd = join(dir.path, "cwd");
  mkdirSync(cwd);
  writeFileSync(join(dir.path, "job"), JOB, { mode: 0o755 });
  writeFileSync(join(dir.path, "ends"), "");
  writeFileSync(join(dir.path, "env"), BEFORE);
  const env = {
    PATH: [dir.path, process.env.PATH].join(delimiter),
    MARKS: dir.path,
    BASH_ENV: join(dir.path, "env"),
    LC_ALL: "C.UTF-8",
  };
  const { stdout } = await runProgram(["bash", "-c", command], { cwd, env });
  return {
    ends: readFileSync(join(dir.path, "ends"), "utf8").split("\n").filter(Boolean),
    printed: stdout.split("\n").sort(),
  };
}
