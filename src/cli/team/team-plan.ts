import { parseOptions } from "#cli/program/options.ts";
import { type ListenFlags, pickListenFlags } from "#cli/target/listen-options.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { isTeamFile, teamOptions } from "./team-word.ts";

/** What somebody wants with a team. */
export interface TeamPlan {
  /** As it was typed: a file or a name. Absent when an old session goes on. */
  readonly team: string | undefined;
  readonly session: string | undefined;
  readonly prompts: readonly string[];
  /** Nobody answers questions. */
  readonly isHeadless: boolean;
  readonly json: boolean;
  readonly isDryRun: boolean;
  readonly remote: string | undefined;
  readonly agent: string | undefined;
  /** Agent → model; `*` is every agent. */
  readonly models: Readonly<Record<string, string>>;
  readonly promptFiles: readonly string[];
  readonly workingDir: string | undefined;
  readonly safety: string | undefined;
  /** As a target; unique among the live sessions of a workspace. */
  readonly name: string | undefined;
  readonly title: string | undefined;
  readonly task: string | undefined;
  /** Says its prompts and leaves. */
  readonly isDetached: boolean;
  /** As they were typed: TYPE=COMMAND. */
  readonly onEvent: readonly string[];
  /** Where the run alone is served. */
  readonly listen: ListenFlags | undefined;
}

export const EVERY_AGENT = "*";
const PROMPTS = 100;

export function parseTeamPlan(argv: readonly string[]): TeamPlan {
  const { values, positionals } = parseOptions(joinSession(argv), teamOptions);
  const { team, prompts } = splitWords(positionals, values.session);
  const plan = {
    ...{ team, prompts, session: values.session, remote: values.remote, agent: values.agent },
    isHeadless: values.exec === true,
    json: values.json === true,
    isDryRun: values["dry-run"] === true,
    models: parseModels(values.model ?? []),
    promptFiles: values["prompt-file"] ?? [],
    workingDir: values["working-dir"],
    onEvent: values["on-event"] ?? [],
    ...{ safety: values.safety, name: values.name, title: values.title },
    listen: pickListenFlags(values),
    ...{ task: values.task, isDetached: values.detach === true },
  };
  checkPlan(plan);
  return plan;
}

/** `--session -1` looks like two options; what is meant is `--session=-1`. */
function joinSession(argv: readonly string[]): string[] {
  const at = argv.indexOf("--session");
  const next = argv[at + 1];
  const end = argv.indexOf("--");
  if (at < 0 || next === undefined || !/^-\d/.test(next) || (end >= 0 && end < at))
    return [...argv];
  return [...argv.slice(0, at), `--session=${next}`, ...argv.slice(at + 2)];
}

/** A session has its team, so there the first word is one only if it looks like a file. */
function splitWords(words: readonly string[], session: string | undefined) {
  const [first, ...rest] = words;
  if (session !== undefined && (first === undefined || !isTeamFile(first)))
    return { team: undefined, prompts: words };
  return { team: first, prompts: rest };
}

function checkPlan(plan: TeamPlan): void {
  const { team, session, prompts, workingDir, promptFiles } = plan;
  if (team === undefined && session === undefined)
    throw refuse("say which team: reins run TEAM.yaml [PROMPT…]");
  if (prompts.length > PROMPTS) throw refuse(`at most ${PROMPTS} prompts may be given`);
  if (prompts.filter((prompt) => prompt === "-").length > 1)
    throw refuse("stdin can be one prompt only: give `-` once");
  if (prompts.some((prompt) => prompt.length > limits.message_chars))
    throw refuse(`a prompt has at most ${limits.message_chars} characters`);
  if (plan.listen !== undefined && plan.remote !== undefined)
    throw refuse("--listen serves a run of this machine; one behind --remote has that address");
  if (session === undefined) return;
  if (plan.task !== undefined)
    throw refuse("--session: it belongs where it belongs; leave --task away");
  if (plan.isDryRun) throw refuse("--dry-run looks at a team; leave --session away");
  if (workingDir !== undefined || promptFiles.length > 0)
    throw refuse("--session: its working dir and its prompt files stay as they were");
}

/** `AGENT=MODEL` or `MODEL`, which is for every agent. */
function parseModels(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => parseModel(word)));
}

function parseModel(word: string): [agent: string, model: string] {
  const [, agent = EVERY_AGENT, model = ""] = /^(?:([A-Za-z][\w-]*|\*)=)?(.*)$/s.exec(word) ?? [];
  if (model !== "") return [agent, model];
  throw refuse(`--model: ${JSON.stringify(word)} does not look like [AGENT=]PROVIDER/MODEL`);
}

function refuse(sentence: string): Fault {
  return new Fault("invalid_request", sentence);
}
