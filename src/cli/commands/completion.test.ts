import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "#cli/commands.ts";
import { renderBash } from "#cli/completion/bash.ts";
import { renderFish } from "#cli/completion/fish.ts";
import { createGrammar } from "#cli/completion/grammar.ts";
import { renderZsh } from "#cli/completion/zsh.ts";
import type { CommandSpec } from "#cli/program/command-spec.ts";
import { runProgram } from "#test/harness/run-program.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

const nothing: Pick<CommandSpec, "summary" | "examples" | "load"> = {
  summary: "It's for tests: all of it.",
  examples: [],
  load: () => Promise.reject(new Error("a table is only read")),
};

/** One of each kind that the real table has; it stays as it is when that one changes. */
const table: Record<string, CommandSpec> = {
  run: {
    ...nothing,
    usage: "reins run [options] [--] [COMMAND [ARGUMENT…]] | reins run TEAM [PROMPT…] [options]",
    options: [
      ["-d, --detach", "at once"],
      ["--tty, --no-tty", "with or without"],
      ["--cwd DIR", "where"],
      ["--model [AGENT=]MODEL", "which"],
      ["--session ID", "which"],
    ],
    takesProgram: true,
  },
  wait: {
    ...nothing,
    usage: "reins wait [options] ID",
    options: [
      ["--timeout TIME", "so long"],
      ["--for exit|idle", "what"],
      ["--framing FRAMING", "an agent: plain, instruction or replacement; what (default: plain)"],
      ["--why TEXT", "this or that one"],
    ],
  },
  watch: { ...nothing, usage: "reins watch [--to TARGET]", options: [["--to TARGET", "which"]] },
  signal: { ...nothing, usage: "reins signal [options] ID SIGNAL", options: [] },
  close: { ...nothing, usage: "reins close [options] ID…", options: [] },
  serve: {
    ...nothing,
    usage: "reins serve [options] | reins serve mcp [options] | reins serve mcp TEAM [options]",
    options: [
      ["--attach[=TARGET]", "one"],
      ["--tls-key FILE", "a key"],
    ],
  },
  token: {
    ...nothing,
    usage: "reins token create --user ID [options] | reins token list | reins token revoke ID…",
    options: [
      ["--user ID", "whose"],
      ["--role ROLE", "viewer, operator or admin"],
    ],
  },
  answer: {
    ...nothing,
    usage: "reins answer [options] [approve|reject | FIELD=VALUE… | --decline]",
    options: [["--decline", "no answer"]],
  },
  agent: { ...nothing, usage: "reins agent", options: [], hidden: true },
};

const IDS = ["ses_aaaaaaaaaaaaaaaa", "ses_bbbbbbbbbbbbbbbb"];
/** With titles and labels that would like to be words too. */
const LISTED = JSON.stringify({
  sessions: IDS.map((session_id) => ({
    session_id,
    parent_session_id: "ses_cccccccccccccccc",
    title: '"session_id":"ses_title"',
    labels: { session_id: "$(touch owned)" },
  })),
});

describe("in bash", () => {
  const rows: [string, string[]][] = [
    [
      "reins ^",
      [
        "run",
        "wait",
        "watch",
        "signal",
        "close",
        "serve",
        "token",
        "answer",
        "help",
        "--help",
        "--version",
      ],
    ],
    ["reins wa^", ["wait", "watch"]],
    ["reins age^", []],
    ["reins help wa^", ["wait", "watch"]],
    ["reins --v^", ["--version"]],
    ["reins frob ^", []],
    ["reins wait --^", ["--timeout", "--for", "--framing", "--why", "--help"]],
    ["reins run --n^", ["--no-tty"]],
    [
      "reins run -^",
      ["-d", "--detach", "--tty", "--no-tty", "--cwd", "--model", "--session", "-h", "--help"],
    ],
    ["reins wait ^", IDS],
    ["reins wait ses_b^", ["ses_bbbbbbbbbbbbbbbb"]],
    ["reins wait --timeout ^", []],
    ["reins wait --timeout 5 ^", IDS],
    ["reins wait --timeout = 5 ^", IDS],
    ["reins wait ses_a ^", ["--timeout", "--for", "--framing", "--why", "-h", "--help"]],
    ["reins wait --for ^", ["exit", "idle"]],
    ["reins wait --for = i^", ["idle"]],
    ["reins wait --for =^", ["exit", "idle"]],
    ["reins wait --framing ^", ["plain", "instruction", "replacement"]],
    ["reins wait --why ^", []],
    ["reins watch ^", ["--to", "-h", "--help"]],
    ["reins watch --to ^", IDS],
    ["reins run --session ses_a^", ["ses_aaaaaaaaaaaaaaaa"]],
    [
      "reins signal ses_a ^",
      ["INT", "TERM", "HUP", "QUIT", "KILL", "STOP", "CONT", "USR1", "USR2"],
    ],
    ["reins signal ^", IDS],
    ["reins close a b c d e ses_a^", ["ses_aaaaaaaaaaaaaaaa"]],
    ["reins token ^", ["create", "list", "revoke"]],
    ["reins token create --role ^", ["viewer", "operator", "admin"]],
    ["reins token --user x r^", ["revoke"]],
    ["reins token create --user ^", []],
    ["reins token revoke ses_^", []],
    ["reins answer ^", ["approve", "reject"]],
    ["reins answer a^", ["approve"]],
    ["reins serve m^", ["mcp"]],
    ["reins serve mcp t^", ["team.yaml", "things"]],
    ["reins serve --tls-key te^", ["team.yaml"]],
    ["reins serve --attach ^", ["mcp"]],
    ["reins serve --attach = ses_a^", ["ses_aaaaaaaaaaaaaaaa"]],
    ["reins serve --attach =^", IDS],
    ["reins serve --attach = ses_a m^", ["mcp"]],
    ["reins run --cwd t^", ["things"]],
    ["reins run ca^", expect.arrayContaining(["cat"])],
    ["reins run -- ca^", expect.arrayContaining(["cat"])],
    ["reins run te^", expect.arrayContaining(["test", "team.yaml"])],
    ["reins run cat te^", ["team.yaml"]],
    ["reins run cat --d^", []],
    ["reins run -- cat t^", ["team.yaml", "things"]],
    ["reins run -- cat --d^", []],
    ["reins run --cwd things -d cat te^", ["team.yaml"]],
    ["reins run team.yaml --de^", ["--detach"]],
  ];
  test("what comes next is offered", async () => {
    using place = openPlace();
    const found = await completeAll(
      place.path,
      rows.map(([line]) => line),
    );
    const sorted = (words: unknown) => (Array.isArray(words) ? words.toSorted() : words);
    for (const [at, [line, wanted]] of rows.entries())
      expect(found[at]?.toSorted(), line).toEqual(sorted(wanted));
  });

  test("nothing that a session says about itself is run or offered", async () => {
    using place = openPlace();
    expect(await completeAll(place.path, ["reins wait ^"])).toEqual([IDS]);
    const { stdout } = await runProgram(["ls", place.path]);
    expect(stdout).not.toContain("owned");
  });

  test("a shell that divides words otherwise sees the same", async () => {
    using place = openPlace();
    expect(await completeAll(place.path, ["reins wa^", "reins wait ^"], "IFS=x")).toEqual([
      ["wait", "watch"],
      IDS,
    ]);
  });

  test("the script runs in a shell that is strict with itself", async () => {
    using place = openPlace();
    expect(await completeAll(place.path, ["reins wa^"], "set -u")).toEqual([["wait", "watch"]]);
  });
});

const shells = { bash: renderBash, zsh: renderZsh, fish: renderFish };

test.each(Object.entries(shells))("%s knows every command and option of the table", (_, render) => {
  const script = render(createGrammar(commands));
  const shown = Object.entries(commands).filter(([, { hidden }]) => hidden !== true);
  const words = shown.flatMap(([name, { options }]) => [
    name,
    ...options.flatMap(([flag]) => flag.match(/(?<![\w-])--?[a-z][\w-]*/g) ?? []),
  ]);
  expect(words.length).toBeGreaterThan(50);
  const known = new Set(script.match(/[\w-]+/g));
  expect(words.filter((word) => !known.has(word))).toEqual([]);
});

test("meanings are quoted as each shell quotes", () => {
  const grammar = createGrammar({
    odd: { ...nothing, usage: "reins odd", options: [["--odd", "it's a \\ and $(x): `y`"]] },
  });
  expect(renderZsh(grammar)).toContain(`'--odd:it'\\''s a \\\\ and $(x)\\: \`y\`'`);
  expect(renderFish(grammar)).toContain(`--odd 'it\\'s a \\\\ and $(x): \`y\`'`);
});

/** A place with some files and a `reins` that only lists sessions. */
function openPlace() {
  const temp = openTempDir();
  for (const folder of ["things", "bin"]) mkdirSync(join(temp.path, folder));
  writeFileSync(join(temp.path, "team.yaml"), "");
  writeFileSync(join(temp.path, "listed.json"), LISTED);
  writeFileSync(
    join(temp.path, "bin", "reins"),
    `#!/bin/sh\n[ "$*" = "ps --json" ] && cat '${temp.path}/listed.json'\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(temp.path, "script"), renderBash(createGrammar(table)));
  return temp;
}

/** The words that bash is given for each line; `^` is where the cursor stands, at the end. */
async function completeAll(path: string, lines: readonly string[], setting = ":") {
  const asked = lines.map((line) => {
    const words = line.slice(0, -1).split(" ");
    const quoted = words.map((word) => `'${word}'`).join(" ");
    return [
      `COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}`,
      'COMPREPLY=(); _reins; IFS=" "',
      `printf '%s\\n' "[\${COMPREPLY[*]-}]"`,
      setting,
    ].join("\n");
  });
  const program = ["source ./script", setting, ...asked].join("\n");
  const { stdout, stderr } = await runProgram(["bash", "--norc", "-c", program], {
    cwd: path,
    env: { PATH: `${path}/bin:${process.env.PATH ?? ""}`, HOME: path },
  });
  expect(stderr).toBe("");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(1, -1).split(" ").filter(Boolean));
}
