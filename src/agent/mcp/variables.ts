import { Fault } from "#contract/fault.ts";

type Values = Readonly<Record<string, string>>;

interface FilledValues {
  readonly values: Record<string, string>;
  /** What was filled in: it may be a secret and is not to be shown. */
  readonly secrets: readonly string[];
}

const REFERENCE = /\$\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The values with each `${NAME}` replaced by that variable. One that is not set is told, not left out. */
export function fillVariables(given: Values, env: Values): FilledValues {
  const secrets = new Set<string>();
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    values[key] = value.replaceAll(REFERENCE, (_reference, name: string) => {
      const found = getVariable(env, { key, name });
      secrets.add(found);
      return found;
    });
  }
  return { values, secrets: [...secrets] };
}

function getVariable(env: Values, { key, name }: { key: string; name: string }): string {
  if (!NAME.test(name))
    throw new Fault("invalid_request", `${key} has \${${name}}; a variable is written \${NAME}`);
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  throw new Fault("invalid_request", `${key} needs the variable ${name}, which is not set`);
}
