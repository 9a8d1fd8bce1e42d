import type { SafetyMode } from "#contract/agent/spec.ts";
import { findAllowing, type ReadCall, readCall, touches } from "./match-call.ts";
import { type Call, formatToolPattern, type Pattern } from "./pattern.ts";
import type { ParsedPermissions } from "./permissions.ts";

/**
 * Whether a tool call may run. The first line that applies decides:
 *
 *   deny     of the session or the team; nothing is stronger
 *   ask      of a hook, of the session, or when we cannot tell whether a deny applies
 *   allow    of the session
 *   allow    of a hook
 *   ask      of the team, unless the session is autonomous
 *   allow    of the team
 *   the safety mode
 *
 * Where nobody is to be asked, to ask is to deny: in a restricted session and in a headless one.
 */
export interface Ruling {
  readonly kind: "allow" | "ask" | "deny";
  readonly because: string;
}

interface JudgedCall extends Call {
  readonly hints: { readonly read_only: boolean; readonly destructive: boolean };
}

export interface Rules {
  readonly team: ParsedPermissions;
  readonly session: ParsedPermissions;
  readonly safety: SafetyMode;
  readonly headless: boolean;
  /** What a hook before this call said. */
  readonly hook?: "allow" | "ask" | undefined;
}

export function decide(call: JudgedCall, rules: Rules): Ruling {
  const ruling = decideBeforeAsking(readCall(call), call.hints, rules);
  if (ruling.kind !== "ask") return ruling;
  if (rules.safety === "restricted") {
    return deny(`${ruling.because}, and a session in the safety mode restricted never asks`);
  }
  if (!rules.headless) return ruling;
  const pattern = formatToolPattern(call.tool);
  return deny(
    `${ruling.because}, and nobody is there to answer; to allow it, add "${pattern}" or a narrower pattern to permissions.allow of the session`,
  );
}

function decideBeforeAsking(call: ReadCall, hints: JudgedCall["hints"], rules: Rules): Ruling {
  return (
    judgeDenied(call, rules) ??
    judgeBySession(call, rules) ??
    judgeByTeam(call, rules) ??
    judgeBySafety(hints, rules.safety)
  );
}

function judgeDenied(call: ReadCall, { session, team }: Rules): Ruling | undefined {
  const denying = [
    ...session.deny.map((pattern) => ({ pattern, who: "the session" })),
    ...team.deny.map((pattern) => ({ pattern, who: "the team" })),
  ].map((each) => ({ ...each, touch: touches(each.pattern, call) }));
  const sure = denying.find(({ touch }) => touch === "yes");
  if (sure !== undefined) return deny(`${sure.who} denies ${quote(sure.pattern)}`);
  const possible = denying.find(({ touch }) => touch === "maybe");
  if (possible === undefined) return undefined;
  return ask(
    `${possible.who} denies ${quote(possible.pattern)}, and one cannot see what this command line will run`,
  );
}

function judgeBySession(call: ReadCall, { session, hook }: Rules): Ruling | undefined {
  if (hook === "ask") return ask("a hook asks for it");
  const asking = findAsking(session.ask, call);
  if (asking !== undefined) return ask(`a session rule asks before ${quote(asking)}`);
  const allowing = findAllowing(session.allow, call);
  return allowing && allow(`the session allows ${allowing.map(quote).join(", ")}`);
}

function judgeByTeam(call: ReadCall, { session, team, hook, safety }: Rules): Ruling | undefined {
  if (hook === "allow") return allow("a hook allows it");
  const asking = safety === "autonomous" ? undefined : findAsking(team.ask, call);
  if (asking !== undefined) return ask(`a team rule asks before ${quote(asking)}`);
  // Some parts of a command line may be allowed by the one, some by the other.
  const allowing = findAllowing([...session.allow, ...team.allow], call);
  return allowing && allow(`the team allows ${allowing.map(quote).join(", ")}`);
}

function judgeBySafety(hints: JudgedCall["hints"], safety: SafetyMode): Ruling {
  const onlyReads = hints.read_only && !hints.destructive;
  switch (safety) {
    case "strict":
      return ask("strict mode asks before every call");
    case "balanced":
      if (onlyReads) return allow("the tool only reads");
      return ask("balanced mode asks before file changes and commands");
    case "restricted":
      if (onlyReads) return allow("the tool only reads");
      return deny("the safety mode restricted denies tools that do more than read");
    case "autonomous":
      return allow("the safety mode autonomous allows what is not denied");
  }
}

function findAsking(patterns: readonly Pattern[], call: ReadCall): Pattern | undefined {
  return patterns.find((pattern) => touches(pattern, call) !== "no");
}

function allow(because: string): Ruling {
  return { kind: "allow", because };
}

function ask(because: string): Ruling {
  return { kind: "ask", because };
}

function deny(because: string): Ruling {
  return { kind: "deny", because };
}

function quote(pattern: Pattern): string {
  return `"${pattern.text}"`;
}
