import { exitCodeOf, sayFault } from "#cli/program/exit.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

type Verb = (argv: readonly string[]) => Promise<number>;

/** `reins NOUN VERB …` */
export async function runVerb(
  noun: string,
  verbs: Readonly<Record<string, Verb>>,
  [name = "", ...rest]: readonly string[],
): Promise<number> {
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb !== undefined) return await verb(rest);
  const choices = Object.keys(verbs).join("|");
  throw new Fault(
    "invalid_request",
    `say what to do: reins ${noun} ${choices} (--help tells more)`,
  );
}

/** One after the other; what is wrong with one does not stop the rest. The exit code is the first failure's. */
export async function runEach(
  words: readonly string[],
  run: (word: string) => Promise<void>,
): Promise<number> {
  let code = 0;
  for (const word of words) {
    try {
      await run(word);
    } catch (error) {
      sayFault(error);
      code ||= exitCodeOf(error);
    }
  }
  return code;
}

/** Names what is wrong as it was typed and not as the field that it became. */
export function parseTyped<T>(typed: Readonly<Record<string, string>>, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const issue = firstIssue(error);
    const name = typed[issue?.field.split(".")[0] ?? ""];
    if (issue === undefined || name === undefined) throw error;
    throw new Fault("invalid_request", `${name}: ${issue.message}`, { cause: error });
  }
}

interface Issue {
  readonly field: string;
  readonly message: string;
}

function firstIssue(error: unknown): Issue | undefined {
  if (!(error instanceof Fault) || !Array.isArray(error.details.issues)) return undefined;
  // As parseRequest writes them.
  return error.details.issues[0] as Issue | undefined;
}

interface Page<T> {
  readonly rows: readonly T[];
  readonly cursor: string | null;
}

/** All pages of a list. */
export async function collect<T>(
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read({
      limit: limits.list_most,
      ...(cursor === null ? {} : { cursor }),
    });
    rows.push(...page.rows);
    cursor = page.cursor;
  } while (cursor !== null);
  return rows;
}

const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** `30d`, `12h`, `1h30m`. A number alone is refused: nobody means seconds here, and nobody would notice. */
export function parseLifetime(text: string, flag: string): number {
  if (!/^(\d+[smhdw])+$/.test(text))
    throw new Fault(
      "invalid_request",
      `${flag}: ${JSON.stringify(text)} is no time such as 30d, 12h or 1h30m`,
    );
  let ms = 0;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+)([smhdw])/g))
    ms += Number(count) * (unitsMs[unit] ?? 0);
  return ms;
}

/** Only those that were given. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Without undefined values, which is what the type says.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
