import { basename, resolve } from "node:path";
import { readTeamFile } from "#app/team/team-file.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import { limits } from "#contract/limits.ts";
import { isFile, isTeamFile } from "./team-word.ts";

/** What a word that names a team means: a file, or else a name of the folder `teams` or of config.yaml. */
export function findSource(team: string, { isRemote }: { readonly isRemote: boolean }): TeamSource {
  if (!isTeamPath(team)) return { kind: "name", name: team };
  const path = resolve(team);
  if (!isRemote) return { kind: "path", path };
  // The server does not see our files: it is sent the text.
  const name = basename(team).slice(0, limits.name_chars);
  return { kind: "inline", yaml: readTeamFile(path), name };
}

function isTeamPath(team: string): boolean {
  return isTeamFile(team) || team.includes("/") || isFile(team);
}
