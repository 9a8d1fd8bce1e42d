import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leaseForFile } from "#test/harness/lease.ts";
import { openTestShells } from "#test/harness/shells.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const leaseShells = leaseForFile(openTestShells);

/** What a run prints and answers; what is absent is empty, 0, and saved. */
interface Step {
  readonly run: string;
  readonly out?: string;
  readonly err?: string | RegExp;
  readonly code?: number;
  readonly signal?: string;
  readonly saved?: boolean;
}

/** `@{` stands for bash's dollar sign and brace, which a linter takes for a slip. */
const asBash = (text: string) => text.replaceAll("@{", "${");

type Cases = Readonly<Record<string, readonly Step[]>>;

const values: Cases = {
  "variables, with all that could be read as code": [
    { run: "a='x\n$HOME `id` $(id) \"q\" '\\''s'\\'' \\' b=\"  two  \" c=" },
    { run: 'printf "<%s>" "$a" "$b" "$c"', out: "<x\n$HOME `id` $(id) \"q\" 's' \\><  two  ><>" },
  ],
  "bytes that are no UTF-8": [
    { run: "x=$'\\xff\\xfe\\x80a'; y=$'\\x01\\x7f\\x1b'" },
    { run: 'printf %s "$x$y" | od -An -tx1', out: " ff fe 80 61 01 7f 1b\n" },
  ],
  "exported or not": [
    { run: "export A=1; B=2; export C" },
    {
      run: "bash -c 'echo \"@{A-no}@{B-no}@{C-no}\"'; echo $B; C=3; bash -c 'echo $C'",
      out: "1nono\n2\n3\n",
    },
  ],
  "what was unset stays unset": [
    { run: "unset HOME IFS PS4 TERM HOSTNAME" },
    { run: 'echo "@{HOME-no}@{IFS-no}@{PS4-no}@{TERM-no}@{HOSTNAME-no}"', out: "nonononono\n" },
  ],
  "PATH may be empty or missing": [
    { run: "PATH=" },
    { run: "ls", code: 127, err: /ls: No such file or directory/ },
    { run: "unset PATH" },
    { run: 'echo "@{PATH-gone}"', out: "gone\n" },
  ],
  "arrays, sparse and associative, with any key": [
    {
      run: "a=(1 'two words' [7]=$'n\\nl'); declare -A m=([\"k ]\\\"'\"]='v $x' [$'a\\nb']=2 ['*']=3)",
    },
    {
      run: 'echo "@{!a[@]} @{#a[7]} @{a[1]}"; echo "@{m["k ]\\"\'"]} @{m[$\'a\\nb\']} @{#m[@]} @{m["*"]}"',
      out: "0 1 7 3 two words\nv $x 2 3 3\n",
    },
  ],
  attributes: [
    {
      run: "declare -i n=5; declare -l low=ABC; declare -u up=abc; t=1; declare -n ref=t; declare -ai na=(1)",
    },
    {
      run: 'n+=2; low=XYZ; up=xyz; ref=9; na[0]+=4; echo "$n $low $up $t @{na[0]}"',
      out: "7 xyz XYZ 9 5\n",
    },
  ],
  readonly: [
    { run: "readonly X=1; declare -ar R=(1 2)" },
    {
      run: "echo $X @{R[1]}; X=2",
      out: "1 2\n",
      code: 1,
      err: "bash: line 1: X: readonly variable\n",
    },
    { run: "echo $X", out: "1\n" },
  ],
  IFS: [{ run: "IFS=:" }, { run: "x=a:b; set -- $x; echo $#", out: "2\n" }],
  "BASH_ENV is a variable as any other": [
    { run: "export BASH_ENV=/nonexistent/x" },
    { run: "echo $BASH_ENV; echo fine", out: "/nonexistent/x\nfine\n" },
  ],
  "random numbers do not repeat": [
    { run: "a=$RANDOM$RANDOM$RANDOM" },
    { run: "b=$RANDOM$RANDOM$RANDOM; [ $a != $b ] && echo differ", out: "differ\n" },
    { run: "[ $b != $RANDOM$RANDOM$RANDOM ] && echo differ", out: "differ\n" },
  ],
  "local variables are not kept, also when exit is called among them": [
    {
      run: "x=0; arr=(1 2); f() { local x=1; exit 3; }; g() { local y=2 arr=(9); f; }; g",
      code: 3,
    },
    { run: 'echo $x @{arr[@]} "@{y-none}"', out: "0 1 2 none\n" },
  ],
  "nothing of ours is among the variables": [
    { run: "x=1" },
    { run: 'echo "@{!__reins_@}|$(declare -F)|$#|$0|$x"', out: "||0|bash|1\n" },
  ],
};

const functions: Cases = {
  "functions with here-documents, extended patterns and odd names": [
    {
      run: 'shopt -s extglob\nh() { cat <<E\n$1 and \\$2 "q"\nE\n}\np() { case $1 in !(a|b)) echo other;; *) echo ab;; esac; }\na-b.c() { echo odd; }',
    },
    { run: "h x; p a; p c; a-b.c", out: 'x and $2 "q"\nab\nother\nodd\n' },
    { run: "unset -f h" },
    { run: "p c; h", out: "other\n", code: 127, err: "bash: line 1: h: command not found\n" },
  ],
  "exported functions": [
    { run: "f() { echo f; }; export -f f; g() { :; }" },
    { run: "bash -c 'f; g'", out: "f\n", code: 127, err: /g: command not found/ },
  ],
  "aliases, with quotes": [
    { run: "alias hi='echo \"it'\\''s\"' ll='ls -l'; unalias ll" },
    { run: "hi me; ll", out: "it's me\n", code: 127, err: "bash: line 1: ll: command not found\n" },
  ],
  "a function named builtin": [
    { run: "builtin() { echo mine; }; x=1" },
    { run: "builtin cd /; x=2; false", out: "mine\n", code: 1 },
    { run: "echo $x; builtin; unset -f builtin; builtin echo real", out: "2\nmine\nreal\n" },
    { run: "type -t builtin", out: "builtin\n" },
  ],
  "functions named as everything that we use": [
    {
      run: 'for n in declare printf trap exit cd set unset export shopt command . : return umask alias exec read eval; do eval "function $n { echo mine $n; }" 2>/dev/null; done; x=1',
    },
    { run: "y=2; declare; printf; cd /", out: "mine declare\nmine printf\nmine cd\n" },
    { run: "echo $x$y; exit 3", out: "12\nmine exit\n" },
    { run: "command exit 3; builtin exit 4", out: "mine command\n", code: 4 },
  ],
  "a function named builtin and one named declare, both": [
    { run: "builtin() { echo b; }; declare() { echo d; }; printf() { echo p; }; exit 5", code: 5 },
    { run: "builtin; declare; printf; echo @{#FUNCNAME[@]}", out: "b\nd\np\n0\n" },
  ],
  "aliases named as everything that we use": [
    {
      run: "alias builtin='echo b' declare='echo d' trap='echo t' unset='echo u' case='echo c' exit='echo e' set='echo s' if='echo i'; x=7",
    },
    { run: "declare 1\n\\unalias -a", out: "d 1\n" },
    { run: "echo $x; exit 2", out: "7\n", code: 2 },
  ],
};

const options: Cases = {
  "options of both kinds": [
    { run: "set -fu +B; shopt -s nullglob dotglob; shopt -u sourcepath" },
    {
      run: 'echo $- {a,b} *; shopt nullglob dotglob sourcepath | tr "\\n\\t" "; "',
      out: "fhuc {a,b} *\nnullglob        on;dotglob         on;sourcepath      off;",
    },
  ],
  "set -e ends a run with its code, and is kept": [
    { run: "x=1; set -e; false; echo never", code: 1 },
    { run: "echo $x; (exit 4); echo never", out: "1\n", code: 4 },
    { run: "set +e; false; echo on", out: "on\n" },
  ],
  "set -u": [
    {
      run: "set -u; x=1; echo $nothing",
      code: 127,
      err: "bash: line 1: nothing: unbound variable\n",
    },
    { run: "echo $x; set +u; echo $nothing", out: "1\n\n" },
  ],
  "set -n is not kept": [
    { run: "x=1" },
    { run: "x=2; set -n\necho never", saved: false },
    { run: "echo $x", out: "1\n" },
  ],
  "set -x shows the user's lines alone": [
    { run: "set -x\necho a", out: "a\n", err: "++ echo a\n" },
    { run: "echo b", out: "b\n", err: "++ echo b\n" },
    { run: "exit 3", code: 3, err: "++ exit 3\n" },
    { run: "PS4='> '; set +x", err: "++ PS4='> '\n>> set +x\n" },
    { run: "echo c", out: "c\n" },
  ],
  "set -o posix": [
    { run: "set -o posix; x=1" },
    { run: "echo $x $POSIXLY_CORRECT; shopt -qo posix && echo yes", out: "1 y\nyes\n" },
    { run: "export POSIXLY_CORRECT=1; exit 3", code: 3 },
    { run: "env | grep POSIX; set +o posix", out: "POSIXLY_CORRECT=1\n" },
    { run: "shopt -qo posix || echo no; echo @{POSIXLY_CORRECT-gone}", out: "no\ngone\n" },
  ],
  "shopt -s extdebug": [
    { run: "shopt -s extdebug; x=1" },
    { run: "shopt -q extdebug && echo $x", out: "1\n" },
  ],
  "set -C, set -k, set -t, set -a": [
    { run: "set -Cka; x=1" },
    { run: "echo $x $-", out: "1 ahkBCc\n" },
    { run: "set -t; y=1" },
    { run: "echo $-", out: "ahkBCc\n" },
  ],
};

const places: Cases = {
  "the working directory, with OLDPWD and the stack": [
    { run: "cd /usr; cd /tmp; pushd /usr/bin >/dev/null" },
    {
      run: "pwd; echo $OLDPWD; dirs -p; popd >/dev/null; pwd; cd -",
      out: "/usr/bin\n/tmp\n/usr/bin\n/tmp\n/tmp\n/usr/bin\n",
    },
    { run: "PWD=/lie; x=1" },
    { run: "pwd -P", out: "/usr/bin\n" },
  ],
  "the umask": [
    { run: "umask", out: "0022\n" },
    { run: "umask 777" },
    { run: "umask; umask 027", out: "0777\n" },
    { run: "umask", out: "0027\n" },
  ],
};

const endings: Cases = {
  exit: [
    { run: "x=5; exit 3", code: 3 },
    { run: "echo $x; exit 255", out: "5\n", code: 255 },
  ],
  "exec replaces the shell, so there is nothing to save": [
    { run: "x=1" },
    { run: "x=2; exec sh -c 'echo new; exit 6'", out: "new\n", code: 6, saved: false },
    { run: "echo $x", out: "1\n" },
    { run: "exec /nonexistent", code: 127, err: /No such file/, saved: false },
    { run: "exec 5>/dev/null; echo $x", out: "1\n" },
  ],
  "an open quote": [
    { run: 'x=1\necho "open', code: 2, err: /unexpected EOF/ },
    { run: "echo $x", out: "1\n" },
  ],
  "an open here-document": [
    { run: "cat <<E\nx=1", out: "x=1\n", err: /here-document/ },
    { run: "echo on", out: "on\n" },
  ],
  "syntax errors": [
    { run: "x=1\nif; then", code: 2, err: /syntax error/ },
    { run: "echo $x; }", code: 2, err: /syntax error/ },
    { run: ")", code: 2, err: /syntax error/ },
    { run: "echo $x", out: "1\n" },
  ],
  "death by a signal": [
    { run: "x=1; kill -9 $$", code: 137, signal: "SIGKILL", saved: false },
    { run: 'y=1; echo "@{x-none}"; kill -TERM $$', out: "none\n", code: 143, signal: "SIGTERM" },
    { run: "echo $y", out: "1\n" },
  ],
  "closed descriptors": [
    { run: "x=1; exec 0<&- 1>&- 2>&-" },
    { run: 'echo $x; for n in {3..255}; do eval "exec $n>&-"; done; y=2', out: "1\n" },
    { run: "echo $y; echo err >&2", out: "2\n", err: "err\n" },
  ],
  "an EXIT trap runs at the end of its run": [
    { run: "trap 'echo bye $?' EXIT; x=1", out: "bye 0\n" },
    { run: "echo $x; trap 'exit 9' EXIT; x=2", out: "1\n", code: 9 },
    {
      run: "echo $x; trap 'echo bye $?' EXIT; x=3; exit 4",
      out: "2\nbye 4\n",
      code: 4,
      saved: false,
    },
    { run: "echo $x", out: "2\n" },
  ],
  "other traps": [
    { run: "trap 'echo err' ERR; trap 'echo dbg' DEBUG; false", out: "dbg\ndbg\nerr\n", code: 1 },
    { run: "false; trap -p ERR DEBUG" },
  ],
  "no text can say how a run ended": [
    {
      run: "echo 'exit 9'; printf '\\nrun_0000000000000000\\n\\\\builtin return # x\\n{\"exit_code\":9}'; __reins_rc=7; x=$'\\n\\\\builtin return # run_0\\n/etc\\nrun_0\\n'",
      out: 'exit 9\n\nrun_0000000000000000\n\\builtin return # x\n{"exit_code":9}',
    },
    { run: "echo @{#x}; __reins_rc=7; __reins_done=2; exit 3", out: "36\n", code: 3 },
    { run: "pwd", out: "/\n" },
  ],
  "stdout and stderr are apart": [
    { run: "echo out; echo err >&2; echo out", out: "out\nout\n", err: "err\n" },
  ],
  "a background job does not hold the run": [
    { run: "sleep 1000 & echo hi", out: "hi\n" },
    { run: "jobs; wait; echo on", out: "on\n" },
  ],
};

test.each(Object.entries({ values, functions, options, places, endings }))(
  "%s are kept, or not, as documented",
  async (_theme, cases) => {
    await using shells = await leaseShells();
    const go = async ([name, steps]: [string, readonly Step[]]) => {
      const shell = await shells.create();
      for (const step of steps) {
        const { out = "", err = "", code = 0, signal = null, saved = true } = step;
        const { stdout, stderr, exit } = await shells.run(shell, asBash(step.run), {
          timeout_ms: 20_000,
        });
        const where = `${name}: ${step.run}`;
        const got = { stdout, code: exit.exit_code, signal: exit.signal, saved: exit.state_saved };
        expect.soft({ where, ...got, stderr }).toEqual({
          where,
          ...{ stdout: out, code, signal, saved },
          stderr: typeof err === "string" ? err : expect.stringMatching(err),
        });
      }
      await shells.operations["shell.close"]({ shell_id: shell });
    };
    for (const entry of Object.entries(cases)) await go(entry);
  },
);

test("a directory that is gone leaves the shell usable, and the run says where it starts", async () => {
  await using shells = await leaseShells();
  using temp = openTempDir();
  const dir = join(temp.path, "a", "b");
  mkdirSync(dir, { recursive: true });
  const shell = await shells.create({ work_dir: dir });
  expect(await shells.run(shell, "x=1; pwd")).toMatchObject({ stdout: `${dir}\n`, stderr: "" });
  rmSync(join(temp.path, "a"), { recursive: true });
  const { stdout, stderr, exit } = await shells.run(shell, "pwd; echo $x; cd /");
  expect(stdout).toBe(`${temp.path}\n1\n`);
  expect(stderr).toBe(
    `reins: ${dir} cannot be entered any more; this run starts in ${temp.path}\n`,
  );
  expect(exit).toMatchObject({ exit_code: 0, state_saved: true });
  expect(await shells.run(shell, "pwd")).toMatchObject({ stdout: "/\n", stderr: "" });
});
