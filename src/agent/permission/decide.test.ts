import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Permissions, SafetyMode } from "#contract/agent/spec.ts";
import { decide, type Rules } from "./decide.ts";
import { parsePermissions, withApproval } from "./permissions.ts";

const reads = { read_only: true, destructive: false };
const acts = { read_only: false, destructive: false };

interface Given {
  readonly team?: Permissions;
  readonly session?: Permissions;
  readonly safety?: SafetyMode;
  readonly headless?: boolean;
  readonly hook?: "allow" | "ask";
}

function rulesOf({ team = {}, session = {}, safety = "balanced", headless, hook }: Given): Rules {
  return {
    team: parsePermissions(team),
    session: parsePermissions(session),
    safety,
    headless: headless ?? false,
    hook,
  };
}

function judge(given: Given, hints = acts) {
  return decide({ tool: "write", input: { path: "/a" }, hints }, rulesOf(given)).kind;
}

const named = ["write"];

describe("what no pattern names", () => {
  test.each<[SafetyMode, string, string]>([
    ["strict", "ask", "ask"],
    ["balanced", "allow", "ask"],
    ["restricted", "allow", "deny"],
    ["autonomous", "allow", "allow"],
  ])("%s: one that reads is %s, one that acts is %s", (safety, reading, acting) => {
    expect(judge({ safety }, reads)).toBe(reading);
    expect(judge({ safety }, acts)).toBe(acting);
  });

  test("a tool that claims to read and to destroy is one that acts", () => {
    expect(judge({}, { read_only: true, destructive: true })).toBe("ask");
  });
});

describe("which rule is stronger", () => {
  test.each<[string, Given, string]>([
    ["deny over everything", { session: { deny: named, ask: named, allow: ["*"] } }, "deny"],
    [
      "the team's deny over the session's allow",
      { team: { deny: named }, session: { allow: ["*"] } },
      "deny",
    ],
    [
      "the team's deny over the session's ask",
      { team: { deny: named }, session: { ask: ["*"] } },
      "deny",
    ],
    ["deny over autonomous", { team: { deny: named }, safety: "autonomous" }, "deny"],
    ["deny over a hook", { team: { deny: named }, hook: "allow" }, "deny"],
    ["the session's ask over its allow", { session: { ask: named, allow: named } }, "ask"],
    ["the session's ask over autonomous", { session: { ask: named }, safety: "autonomous" }, "ask"],
    [
      "the session's ask over the team's allow",
      { session: { ask: named }, team: { allow: named } },
      "ask",
    ],
    [
      "the session's ask over a hook that allows",
      { session: { ask: named }, hook: "allow" },
      "ask",
    ],
    [
      "the session's allow over the team's ask",
      { session: { allow: named }, team: { ask: named } },
      "allow",
    ],
    ["the session's allow over strict", { session: { allow: named }, safety: "strict" }, "allow"],
    [
      "the session's allow over restricted",
      { session: { allow: named }, safety: "restricted" },
      "allow",
    ],
    [
      "a hook that asks over the session's allow",
      { session: { allow: named }, hook: "ask" },
      "ask",
    ],
    ["a hook that asks over autonomous", { safety: "autonomous", hook: "ask" }, "ask"],
    ["a hook that allows over the team's ask", { team: { ask: named }, hook: "allow" }, "allow"],
    ["the team's ask over its allow", { team: { ask: named, allow: named } }, "ask"],
    ["autonomous over the team's ask", { team: { ask: named }, safety: "autonomous" }, "allow"],
    ["the team's allow over strict", { team: { allow: named }, safety: "strict" }, "allow"],
    [
      "restricted over the session's ask",
      { session: { ask: named }, safety: "restricted" },
      "deny",
    ],
    ["restricted over the team's ask", { team: { ask: named }, safety: "restricted" }, "deny"],
    ["restricted over a hook that asks", { hook: "ask", safety: "restricted" }, "deny"],
  ])("%s", (_, given, kind) => {
    expect(judge(given)).toBe(kind);
  });

  test("an ask pattern makes a tool that reads ask", () => {
    expect(judge({ team: { ask: named } }, reads)).toBe("ask");
  });
});

test("a ruling says which rule made it", () => {
  const because = (given: Given) =>
    decide({ tool: "write", input: { path: "/a" }, hints: acts }, rulesOf(given)).because;
  expect(because({ team: { deny: ["write:path=/*"] } })).toBe('the team denies "write:path=/*"');
  expect(because({ session: { ask: ["w*"] } })).toBe('a session rule asks before "w*"');
  expect(because({ session: { allow: ["w*"] } })).toBe('the session allows "w*"');
});

test("parts of a command line may be allowed by the session and by the team", () => {
  const rules = rulesOf({
    session: { allow: ["execute:command=git *"] },
    team: { allow: ["execute:command=npm *"] },
  });
  const judged = (command: string) =>
    decide({ tool: "execute", input: { command }, hints: acts }, rules).kind;
  expect(judged("git status && npm test")).toBe("allow");
  expect(judged("git status && make")).toBe("ask");
});

test("of arguments whose names differ only in case, one is enough to deny", () => {
  const input = { path: "/etc/passwd", PATH: "/home" };
  const judged = (session: Permissions) =>
    decide({ tool: "write", input, hints: acts }, rulesOf({ session })).kind;
  expect(judged({ deny: ["write:path=/etc/*"] })).toBe("deny");
  expect(judged({ allow: ["write:path=/home"] })).toBe("ask");
});

test("arguments that are no object are judged by the patterns of names alone", () => {
  const judged = (session: Permissions) =>
    decide({ tool: "execute", input: undefined, hints: acts }, rulesOf({ session })).kind;
  expect(judged({ allow: ["execute:command=*"] })).toBe("ask");
  expect(judged({ allow: ["execute"], deny: ["execute:command=rm *"] })).toBe("allow");
  expect(judged({ allow: ["execute"], deny: ["exec*"] })).toBe("deny");
});

describe("where nobody answers", () => {
  test("what would ask is denied, with the pattern that would allow it", () => {
    const ruling = decide(
      { tool: "write", input: {}, hints: acts },
      rulesOf({ headless: true, safety: "strict" }),
    );
    expect(ruling.kind).toBe("deny");
    expect(ruling.because).toContain('add "write"');
    expect(ruling.because).toContain("permissions.allow");
  });

  test("what is allowed stays so", () => {
    expect(judge({ headless: true }, reads)).toBe("allow");
    expect(judge({ headless: true, team: { allow: named } })).toBe("allow");
  });
});

describe("an approval", () => {
  const approved = { tool: "write" };

  test("of a call changes nothing for the next one", () => {
    expect(withApproval({ deny: ["x"] }, "approve", approved)).toEqual({ deny: ["x"] });
    expect(withApproval({}, "reject", approved)).toEqual({});
  });

  test("of a tool allows that tool, once", () => {
    const once = withApproval({ deny: ["x"] }, "approve_tool", approved);
    expect(once).toEqual({ allow: ["write"], deny: ["x"] });
    expect(withApproval(once, "approve_tool", { tool: "WRITE" })).toEqual(once);
    expect(judge({ session: once, team: { ask: named }, safety: "strict" })).toBe("allow");
  });

  test("of a pattern allows what it matches", () => {
    const pattern = "write:path=/a";
    const session = withApproval({}, "approve_tool", { tool: "write", pattern });
    expect(session).toEqual({ allow: [pattern] });
    expect(judge({ session })).toBe("allow");
  });

  test("of a tool with a strange name allows that tool alone", () => {
    const session = withApproval({}, "approve_tool", { tool: "*" });
    expect(judge({ session })).toBe("ask");
  });

  test("of a pattern that does not parse is refused", () => {
    const approve = () => withApproval({}, "approve_tool", { tool: "write", pattern: "a b" });
    expect(approve).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test("of the session allows everything but what is denied or asked for by the session", () => {
    const session = withApproval({ ask: ["drop"] }, "approve_session", approved);
    expect(withApproval(session, "approve_session", approved)).toEqual(session);
    expect(judge({ session, team: { ask: named }, safety: "strict" })).toBe("allow");
    expect(judge({ session, team: { deny: named } })).toBe("deny");
    expect(judge({ session: { ...session, ask: named } })).toBe("ask");
  });

  test("beyond the most patterns is refused", () => {
    const allow = Array.from({ length: 500 }, (_, index) => `tool_${index}`);
    const approve = () => withApproval({ allow }, "approve_tool", approved);
    expect(approve).toThrow(expect.objectContaining({ code: "too_many" }));
  });
});

test("one pattern that does not parse refuses them all, and the fault says which", () => {
  const parse = () => parsePermissions({ allow: ["a"], deny: ["b", "execute:rm *"] });
  expect(parse).toThrow("permissions.deny[1]: the permission pattern");
  expect(parse).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      details: { list: "deny", index: 1, position: 7, pattern: "execute:rm *" },
    }),
  );
});

const tools = ["write", "read", "*", "w*", "write:path=/a", "write:path=/b*", "drop"];
const list = fc.option(fc.subarray(tools), { nil: undefined });
const permissions: fc.Arbitrary<Permissions> = fc.record({ allow: list, ask: list, deny: list });
const safety = fc.constantFrom<SafetyMode[]>("strict", "balanced", "restricted", "autonomous");
const call = fc.record({
  tool: fc.constantFrom("write", "read", "drop"),
  input: fc.record({ path: fc.constantFrom("/a", "/b/c", "/d") }),
  hints: fc.record({ read_only: fc.boolean(), destructive: fc.boolean() }),
});
const rules = fc
  .record({ team: permissions, session: permissions, safety, headless: fc.boolean() })
  .map(rulesOf);

test("allowing more never turns a deny by pattern into anything else", () => {
  fc.assert(
    fc.property(call, rules, permissions, (judged, before, more) => {
      const denied = [...before.session.deny, ...before.team.deny];
      const base = { ...before, safety: "autonomous" as const, headless: false };
      const isDenied = decide(judged, base).kind === "deny";
      const extra = parsePermissions({ allow: more.allow });
      const session = { ...base.session, allow: [...base.session.allow, ...extra.allow] };
      const after = decide(judged, { ...base, session, hook: "allow" }).kind === "deny";
      expect(after).toBe(isDenied);
      if (denied.length === 0) expect(isDenied).toBe(false);
    }),
  );
});

test("a headless or restricted session never asks", () => {
  fc.assert(
    fc.property(call, rules, (judged, given) => {
      expect(decide(judged, { ...given, headless: true }).kind).not.toBe("ask");
      expect(decide(judged, { ...given, safety: "restricted" }).kind).not.toBe("ask");
    }),
  );
});
