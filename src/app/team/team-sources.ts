import { readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { loadTeam } from "#agent/team/load-team.ts";
import type { Team } from "#agent/team/team.ts";
import type { Caller } from "#app/caller.ts";
import { isErrno } from "#base/errno.ts";
import type { TeamSource } from "#contract/agent/spec.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import type { OperationInput, OperationOutput } from "#contract/operations.ts";
import { BoundedMap } from "#contract/values/bounded-map.ts";
import { findTeamFile, readTeamFile, type TeamRoots } from "./team-file.ts";

export interface TeamSourcesDeps {
  /** Each `NAME.yaml` in it is a team. */
  readonly folder: string;
  /** Name → path; they come before the folder's. */
  readonly named: Readonly<Record<string, string>>;
  /** The folder of those that come with Reins; they are known as long as there is no other. */
  readonly examples?: string | undefined;
  /** Where a caller may name a file. */
  readonly roots: TeamRoots;
}

interface TeamText {
  readonly yaml: string;
  readonly name: string;
  /** Undefined for a text that came from nowhere: then it is the work dir. */
  readonly base_dir: string | undefined;
}

export interface LoadedTeam extends TeamText {
  readonly team: Team;
}

/** Texts that can be named by their id. */
const TEAMS_REMEMBERED = 64;
const NAME = /^[A-Za-z0-9][\w.-]*$/;
const EXTENSION = ".yaml";

/** The teams of a server or of this machine: by path, as text, by name, and by the id of a text that was seen. */
export class TeamSources {
  readonly #deps: TeamSourcesDeps;
  /** By caller and id: a caller cannot get the text that another one sent. */
  readonly #seen = new BoundedMap<string, TeamText>(TEAMS_REMEMBERED);

  constructor(deps: TeamSourcesDeps) {
    this.#deps = deps;
  }

  load(source: TeamSource, caller: Caller): LoadedTeam {
    const text = this.#read(source, caller);
    const loaded = load(text, caller.where.work_dir);
    this.#remember(loaded, caller);
    return loaded;
  }

  /** One that was loaded before, or has the text of a team with a name. */
  get(teamId: string, caller: Caller): LoadedTeam {
    const seen = this.#seen.get(keyOf(caller, teamId));
    const found = seen === undefined ? this.#findNamed(teamId) : load(seen, caller.where.work_dir);
    if (found === undefined) throw unknownId(teamId);
    this.#remember(found, caller);
    return found;
  }

  list(page: OperationInput<"team.list">): OperationOutput<"team.list"> {
    const { limit = limits.list_default, cursor = "" } = page;
    const rest = this.#names().filter((name) => name > cursor);
    const shown = rest.slice(0, limit);
    const last = shown.at(-1);
    return {
      teams: shown.map((name) => this.#describe(name)),
      cursor: rest.length > shown.length && last !== undefined ? last : null,
    };
  }

  #read(source: TeamSource, caller: Caller): TeamText {
    if (source.kind === "inline")
      return { yaml: source.yaml, name: source.name ?? "inline", base_dir: undefined };
    if (source.kind === "name") return this.#readNamed(source.name);
    const path = findTeamFile(resolve(caller.where.work_dir, source.path), this.#deps.roots);
    return readText(path);
  }

  #readNamed(name: string): TeamText {
    const known = this.#paths();
    const path = known.get(name);
    if (path !== undefined) return readText(path);
    const names = [...known.keys()];
    throw new Fault("team_not_found", `there is no team named ${name}; ${listKnown(names)}`, {
      details: { name, known: names.slice(0, limits.list_default) },
    });
  }

  #names(): string[] {
    return [...this.#paths().keys()];
  }

  /** Name → path, by name. */
  #paths(): ReadonlyMap<string, string> {
    const { folder, named, examples } = this.#deps;
    const own = [...listTeams(folder), ...Object.entries(named)];
    const known = own.some(([name]) => NAME.test(name)) ? own : listTeams(examples);
    const valid = known.filter(([name]) => NAME.test(name));
    // Of two with the same name the last one counts: the configuration comes before the folder.
    return new Map(valid.toSorted(([a], [b]) => Number(a > b) - Number(a < b)));
  }

  /** What is said of an example besides. */
  #markOf(name: string): { readonly example?: true } {
    const path = this.#paths().get(name) ?? "";
    return dirname(path) === this.#deps.examples ? { example: true } : {};
  }

  #describe(name: string): OperationOutput<"team.list">["teams"][number] {
    try {
      const { team } = load(this.#readNamed(name), dirname(this.#deps.folder));
      return { name, description: team.agents[0]?.description ?? "", ...this.#markOf(name) };
    } catch (error) {
      return { name, description: "", problem: asFault(error).message, ...this.#markOf(name) };
    }
  }

  #findNamed(teamId: string): LoadedTeam | undefined {
    for (const name of this.#names()) {
      try {
        const loaded = load(this.#readNamed(name), dirname(this.#deps.folder));
        if (loaded.team.team_id === teamId) return loaded;
      } catch (error) {
        // A broken one has no id; what is wrong with it is told by the list.
        if (!(error instanceof Fault)) throw error;
      }
    }
    return undefined;
  }

  #remember({ yaml, name, base_dir, team }: LoadedTeam, caller: Caller): void {
    this.#seen.set(keyOf(caller, team.team_id), { yaml, name, base_dir });
  }
}

function load(text: TeamText, workDir: string): LoadedTeam {
  const { yaml, name, base_dir = workDir } = text;
  return { ...text, team: loadTeam({ yaml, name, base_dir }) };
}

function readText(path: string): TeamText {
  return { yaml: readTeamFile(path), name: path, base_dir: dirname(path) };
}

function listTeams(folder: string | undefined): [name: string, path: string][] {
  if (folder === undefined) return [];
  return listFolder(folder)
    .filter((file) => extname(file) === EXTENSION)
    .map((file) => [basename(file, EXTENSION), join(folder, file)]);
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

function keyOf({ token_id = "", user_id = "" }: Caller, teamId: string): string {
  return [token_id, user_id, teamId].join("\0");
}

function listKnown(known: readonly string[]): string {
  if (known.length === 0) return "this server knows none by name";
  const shown = known.slice(0, 10).join(", ");
  return `known are ${shown}${known.length > 10 ? ", …" : ""}`;
}

function unknownId(teamId: string): Fault {
  return new Fault(
    "team_not_found",
    `there is no team ${teamId}; load its source again, or create the session from the source`,
    { details: { team_id: teamId } },
  );
}
