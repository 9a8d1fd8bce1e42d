type Variables = Readonly<Record<string, string | undefined>>;

/** The keys of model providers that a team needs, as far as they are there. */
export function findKeys(env: Variables, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined || value === "" ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

/** What a worker and all that it starts may know: no variable that names a key, and none that holds one. */
export function withoutKeys(
  env: Readonly<Record<string, string>>,
  { names, keys }: { readonly names: readonly string[]; readonly keys: Variables },
): Record<string, string> {
  const secrets = Object.values(keys).filter((key) => key !== undefined);
  const isKept = ([name, value]: [string, string]) =>
    !names.includes(name) && !secrets.some((key) => holds(value, key));
  return Object.fromEntries(Object.entries(env).filter(isKept));
}

/** A short one is found in texts that have nothing to do with it. */
const TELLING_CHARS = 8;

function holds(value: string, key: string): boolean {
  return value === key || (key.length >= TELLING_CHARS && value.includes(key));
}
