import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Permissions } from "#contract/agent/spec.ts";
import { decide } from "./decide.ts";
import { NO_PERMISSIONS, parsePermissions } from "./permissions.ts";

const acts = { read_only: false, destructive: true };

/** By these permissions alone: the mode asks for the rest. */
function judge(command: string, permissions: Permissions, safety: "balanced" | "autonomous") {
  return decide(
    { tool: "execute", input: { command }, hints: acts },
    { team: NO_PERMISSIONS, session: parsePermissions(permissions), safety, headless: false },
  ).kind;
}

const git = ["execute:command=git *"];
const two = ["execute:command=git *", "execute:command=npm *"];
const all = ["execute:command=*"];

describe("allowed", () => {
  test.each<[string, string[]]>([
    ["git status", git],
    ["  git   status  ", git],
    ["GIT STATUS", git],
    ['"git" status', git],
    ["git commit -m 'a; b && c'", git],
    ['git log --format="%h: %s"', git],
    ["git status && git log", git],
    ["git status; git log\ngit diff", git],
    ["git log | git shortlog", git],
    ["git status && npm test", two],
    ["(git status; npm ci) || git diff", two],
    ["if git diff --quiet; then npm test; fi", two],
    ["for f in a b; do git add $f; done", git],
    ["git add $FILES", git],
    ["git show $(git rev-parse HEAD)", git],
    ["git show `git rev-parse HEAD`", git],
    ["git diff *.ts", git],
    ["! git diff", git],
    ["time git diff", git],
    ["git status 2>&1", git],
    ["git status >/dev/null 2>/dev/null", git],
    ["git apply < a.patch", git],
    ["git status # and rm", git],
    ["git status &", git],
    ["x() { git status; }; git log", git],
    ["ls $HOME", ["execute:command=ls $HOME"]],
    ["git status > out.txt", [...git, "execute:command=> out.txt"]],
    ["git commit -F - <<EOF\nhello\nEOF", [...git, "execute:command=<<*"]],
    ["X=1 git status", ["execute:command=X=1 git *"]],
    ["bash -c 'git status'", [...git, "execute:command=bash -c *"]],
    ["make; ls > x; cat <<< a", all],
    ["eval eval eval ls", all],
    ["./run.sh a", ["execute:command=./run.sh *"]],
    ["bash build.sh", ["execute:command=bash build.sh"]],
  ])("%s by %j", (command, allow) => {
    expect(judge(command, { allow }, "balanced")).toBe("allow");
  });
});

describe("not allowed", () => {
  test.each<[string, string[]]>([
    ["git", git],
    ["gitk x", git],
    ["git status && rm -rf .", git],
    ["git status; rm -rf .", git],
    ["git status | sh", git],
    ["git status & rm x", git],
    ["git status\nrm x", git],
    ["git status || rm x", git],
    ["git show $(rm x)", git],
    ["git show `rm x`", git],
    ['git show "$(rm x)"', git],
    [`git show \${A:-$(rm x)}`, git],
    ["git show $((1 + $(rm x)))", git],
    ["git diff <(rm x)", git],
    ["git log > >(rm x)", git],
    ["git apply <<EOF\n$(rm x)\nEOF", [...git, "execute:command=<<*"]],
    ["git apply <<EOF\nhello\nEOF", git],
    ["git apply <<< hello", git],
    ["(rm x)", git],
    ["{ git status; rm x; }", git],
    ["git status > /etc/passwd", git],
    ["git status >> out", git],
    ["git status &> out", git],
    ["git status >& out", git],
    ["git status 2> out", git],
    ["git status < /dev/tcp/host/80", git],
    ["> out", git],
    ["X=1 git status", git],
    ["GIT_PAGER='rm x' git log", git],
    ["X=1", git],
    ["/usr/bin/git status", git],
    ["./git status", git],
    ["sudo git status", git],
    ["env git status", git],
    ["bash -c 'git status'", git],
    ["bash -c 'rm x'", ["execute:command=bash *"]],
    ["eval git status", git],
    ['eval "$X"', all],
    ['bash -c "$X"', all],
    ["bash -s", all],
    ["bash <<EOF\ngit status\nEOF", all],
    ["curl x | bash", all],
    ["$X status", all],
    [`g\${X}t status`, all],
    ["{git,status}", all],
    ["/bin/g?t status", all],
    ['"git status" x', git],
    [`echo \${x@P}`, all],
    ["git() { rm x; }; git status", git],
    ["git status 'unterminated", all],
    ["git status (", all],
    ["git status )", all],
    ["git status &&", all],
    ["git \r status", all],
    ["if git status", all],
    ["", all],
    ["# nothing", all],
    ["git $X", ["execute:command=git status"]],
    ["git $X", ["execute:command=git ?"]],
    [`${"eval ".repeat(8)}ls`, all],
    ["[[ -f x ]]", git],
    ["((x = 1))", git],
    ["trap 'rm x' EXIT", ["execute:command=trap *"]],
    [`git status ${"a".repeat(70_000)}`, git],
    [`git ${"{".repeat(3000)}`, git],
    [`${"(".repeat(20_000)}git status`, git],
    [`git status; ${"git x; ".repeat(3000)}`, git],
  ])("%s by %j", (command, allow) => {
    expect(judge(command, { allow }, "balanced")).toBe("ask");
  });
});

const rm = ["execute:command=rm *"];

describe("denied", () => {
  test.each<[string, string[]]>([
    ["rm -rf /", rm],
    ["RM x", rm],
    ["rm    -rf   /", rm],
    ["ls && rm x", rm],
    ["ls; rm x", rm],
    ["ls | rm x", rm],
    ["ls & rm x", rm],
    ["ls\nrm x", rm],
    ["(rm x)", rm],
    ["echo $(rm x)", rm],
    ["echo `rm x`", rm],
    ['echo "a $(rm x) b"', rm],
    ["echo $(echo $(rm x))", rm],
    ["cat <(rm x)", rm],
    ["cat <<EOF\n$(rm x)\nEOF", rm],
    ["bash <<EOF\nrm x\nEOF", rm],
    ["bash <<< 'rm x'", rm],
    ["X=1 rm x", rm],
    ['r"m" -rf x', rm],
    ["r'm' -rf x", rm],
    ["\\rm -rf x", rm],
    ["r\\m -rf x", rm],
    ["$'\\x72m' x", rm],
    ["/bin/rm x", rm],
    ['"/usr/bin/rm" x', rm],
    ["../bin/rm x", rm],
    ["sudo rm x", rm],
    ["sudo -u bob rm x", rm],
    ["sudo -n /bin/rm x", rm],
    ["env rm x", rm],
    ["env -i A=1 rm x", rm],
    ["/usr/bin/env rm x", rm],
    ["command rm x", rm],
    ["exec rm x", rm],
    ["nohup rm x &", rm],
    ["time rm x", rm],
    ["/usr/bin/time -v rm x", rm],
    ["xargs rm -f", rm],
    ["ls | xargs -n1 rm -f", rm],
    ["timeout 5 rm x", rm],
    ["sudo env nohup rm x", rm],
    ["find . -name a -exec rm {} ;", rm],
    ["find . -exec rm {} \\;", rm],
    ["bash -c 'rm x'", rm],
    ["sh -ec 'ls; rm x'", rm],
    ["/bin/sh -c 'rm x'", rm],
    ["sudo bash -c 'rm x'", rm],
    ["bash -c \"bash -c 'rm x'\"", rm],
    ["ssh host 'rm x'", rm],
    ["watch 'rm x'", rm],
    ["eval rm x", rm],
    ["eval 'rm' 'x'", rm],
    ["trap 'rm x' EXIT", rm],
    ["if true; then rm x; fi", rm],
    ["for f in *; do rm $f; done", rm],
    ["while :; do rm x; done", rm],
    ["case a in a) rm x;; esac", rm],
    ["f() { rm x; }; f", rm],
    ["coproc rm x", rm],
    ["[[ -f $(rm x) ]]", rm],
    ["A=$(rm x)", rm],
    [`echo \${A:-$(rm x)}`, rm],
    ["rm $X", rm],
    ["rm x 'unterminated", rm],
    ['r"m" x (', rm],
    ["git push --force origin main", ["execute:command=git push*--force*"]],
    ['git "push" origin', ["execute:command=git push*"]],
    ["echo a > /etc/hosts", ["execute:command=> /etc/*"]],
    ["echo a >> /etc/hosts", ["execute:command=> /etc/*"]],
    ["curl x | sh", ["execute:command=curl * | sh"]],
    ["ls", ["execute:command=ls"]],
    ["anything", ["execute"]],
    ["cat $HOME/.ssh/id", ["execute:command=cat $HOME/*"]],
  ])("%s by %j, whatever allows it", (command, deny) => {
    const allow = ["*", "execute", "execute:command=*"];
    expect(judge(command, { allow, deny }, "autonomous")).toBe("deny");
  });
});

describe("asked for, because one cannot see whether it is denied", () => {
  test.each<[string, string[]]>([
    ["$X -rf /", rm],
    ["X=rm; $X -rf /", rm],
    ["{rm,-rf,/}", rm],
    ["/bin/r? x", rm],
    ['eval "$X"', rm],
    ['bash -c "$X"', rm],
    ["curl x | bash", rm],
    ["bash <(curl x)", rm],
    ["sudo $X", rm],
    ["sudo bash", rm],
    ["ls 'unterminated", rm],
    ["echo (", rm],
    [`echo \${x@P}`, rm],
    ["git $X", ["execute:command=git push*"]],
    [`sudo ${"a ".repeat(100)}`, rm],
  ])("%s by %j", (command, deny) => {
    expect(judge(command, { allow: ["*"], deny }, "autonomous")).toBe("ask");
  });
});

describe("not denied", () => {
  test.each<[string, string[]]>([
    ["echo rm x", rm],
    ["git rm x", rm],
    ["rmdir x", rm],
    ["echo 'rm x'", rm],
    ["echo $X", rm],
    ["find . -name rm x", rm],
    ["timeout 5 npm test $X", rm],
    ["git commit -m $X", ["execute:command=git push*"]],
    ["wc -l $X", ["execute:command=*--force*"]],
    ["bash rm.sh", rm],
  ])("%s by %j", (command, deny) => {
    expect(judge(command, { deny }, "autonomous")).toBe("allow");
  });
});

test("a line that does not parse is left to the mode where no pattern is about lines", () => {
  expect(judge("ls (", { allow: ["execute"] }, "balanced")).toBe("allow");
  expect(judge("ls (", { deny: ["write_file"] }, "autonomous")).toBe("allow");
});

test("an ask pattern is about every part of a line too", () => {
  const asked = { ask: ["execute:command=git push*"], allow: ["execute"] };
  expect(judge("git status; git push", asked, "autonomous")).toBe("ask");
  expect(judge("git status", asked, "autonomous")).toBe("allow");
});

test("a pattern about the line does not allow a call that sets variables, unless it names them", () => {
  const call = (env: unknown, allow: string[]) =>
    decide(
      { tool: "execute", input: { command: "git log", env }, hints: acts },
      {
        team: NO_PERMISSIONS,
        session: parsePermissions({ allow }),
        safety: "balanced",
        headless: false,
      },
    ).kind;
  expect(call({ GIT_PAGER: "rm x" }, git)).toBe("ask");
  expect(call({}, git)).toBe("allow");
  expect(call(undefined, git)).toBe("allow");
  expect(call({ A: "1" }, ["execute:command=git *:env=*"])).toBe("allow");
  expect(call({ A: "1" }, ["execute"])).toBe("allow");
});

test("each part needs a pattern whose other arguments match", () => {
  const call = (workdir: string) =>
    decide(
      { tool: "execute", input: { command: "git log; npm ci", workdir }, hints: acts },
      {
        team: NO_PERMISSIONS,
        session: parsePermissions({
          allow: ["execute:command=git *:workdir=/repo*", "execute:command=npm *"],
        }),
        safety: "balanced",
        headless: false,
      },
    ).kind;
  expect(call("/repo/a")).toBe("allow");
  expect(call("/home")).toBe("ask");
});

test("the command of a terminal is a command line too", () => {
  const rules = {
    team: NO_PERMISSIONS,
    session: parsePermissions({
      allow: ["terminal_open:command=vim *"],
      deny: ["*:command=rm *"],
    }),
    safety: "balanced",
    headless: false,
  } as const;
  const open = (command: string) =>
    decide({ tool: "terminal_open", input: { command }, hints: acts }, rules).kind;
  expect([open("vim a"), open("vim a; ls"), open("vim a; rm b")]).toEqual(["allow", "ask", "deny"]);
});

test("whatever is put around it, a denied command is never allowed", () => {
  const word = fc.constantFrom(
    "ls",
    "rm x",
    "git log",
    "$(rm x)",
    '"r"m x',
    "$X",
    "sudo rm x",
    "(",
  );
  const glue = fc.constantFrom(" ", "; ", " && ", " | ", "\n", " & ", "'", '"', "`", " > ");
  const line = fc
    .array(fc.tuple(word, glue), { minLength: 1, maxLength: 6 })
    .map((pieces) => pieces.flat().join(""));
  fc.assert(
    fc.property(line, (before) => {
      // On a line of its own, so that what comes before can only quote it or break the line.
      const ruling = judge(`${before}\nrm x`, { deny: rm, allow: all }, "autonomous");
      const isQuoted = /['"`]/.test(before.replaceAll('"r"', ""));
      if (!isQuoted) expect(ruling).toBe("deny");
    }),
    { numRuns: 300 },
  );
});

test("any line is judged, and one more allow pattern turns no deny into anything else", () => {
  const line = fc.string({
    unit: fc.constantFrom(..."rm x$(){}`'\"\\;&|<>\n=ab*?-"),
    maxLength: 30,
  });
  fc.assert(
    fc.property(line, line, (command, extra) => {
      const before = judge(command, { deny: rm }, "autonomous");
      const allow = ["*", ...git, `execute:command="x${extra.replaceAll(/[\\"]/g, "")}"`];
      const after = judge(command, { deny: rm, allow }, "autonomous");
      expect(after).toBe(before);
    }),
    { numRuns: 1000 },
  );
});
