import { type Finding, failed, fine, note } from "./finding.ts";
import type { World } from "./world.ts";

/** By name alone: no value of a key, nor a part of one, is ever said. */
export async function checkKeys({ env }: World): Promise<Finding> {
  const name = "keys";
  const known = await listKeyNames();
  const present = known.filter((key) => (env[key] ?? "") !== "");
  const spoiled = present.filter((key) => /^\s|\s$|[\r\n]/.test(env[key] ?? ""));
  if (spoiled.length > 0)
    return failed(
      name,
      `There is white space around the key in ${spoiled.join(", ")}; providers refuse it.`,
      "Set it again without the space or the line's end.",
    );
  if (present.length > 0) return fine(name, `Keys for models are in ${present.join(", ")}.`);
  return note(
    name,
    "There is no key of a model provider; only agents need one.",
    `Put it into ${known.join(", ")} or what the team file names.`,
  );
}

/** Of the providers that need no entry in a team file. */
async function listKeyNames(): Promise<readonly string[]> {
  const { builtInProviders, keyNames } = await import("#model/source.ts");
  return keyNames(
    {},
    {},
    builtInProviders.map((provider) => `${provider}/any`),
  );
}
