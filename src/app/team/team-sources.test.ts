import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { inline, TEAM } from "#test/harness/agents.ts";
import { createTestCaller } from "#test/harness/caller.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { TeamSources, type TeamSourcesDeps } from "./team-sources.ts";

const caller = createTestCaller();

/** `open/` may be used, `closed/` may not; `teams/` is the folder of names. */
function openPlace(more: Partial<TeamSourcesDeps> = {}) {
  const dir = openTempDir();
  const at = (...names: string[]) => join(dir.path, ...names);
  for (const name of ["open", "closed", "teams"]) mkdirSync(at(name));
  for (const file of ["open/a.yaml", "closed/a.yaml"]) writeFileSync(at(file), TEAM);
  const sources = new TeamSources({
    folder: at("teams"),
    named: {},
    roots: [at("open")],
    ...more,
  });
  return { at, sources, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

const codeOf = (run: () => unknown) => {
  try {
    run();
    return "none";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test("a file below a root is a team, and what it names relative starts from its folder", () => {
  using place = openPlace();
  const path = place.at("open", "a.yaml");
  const loaded = place.sources.load({ kind: "path", path }, caller);
  expect(loaded).toMatchObject({ yaml: TEAM, name: path, base_dir: place.at("open") });
  expect(loaded.team.default_agent).toBe("root");
});

test("a file outside the roots is refused in the same words whether or not it is there", () => {
  using place = openPlace();
  symlinkSync(place.at("closed", "a.yaml"), place.at("open", "link.yaml"));
  symlinkSync(place.at("closed"), place.at("open", "folder"));
  for (const path of [
    place.at("closed", "a.yaml"),
    place.at("closed", "none.yaml"),
    place.at("open", "..", "closed", "a.yaml"),
    place.at("open", "link.yaml"),
    place.at("open", "folder", "a.yaml"),
    place.at("open-too.yaml"),
    place.at("open"),
    "/etc/passwd",
    "relative.yaml",
  ])
    expect([path, codeOf(() => place.sources.load({ kind: "path", path }, caller))]).toEqual([
      path,
      "forbidden",
    ]);
  const missing = place.at("open", "none.yaml");
  expect(codeOf(() => place.sources.load({ kind: "path", path: missing }, caller))).toBe(
    "team_not_found",
  );
});

test("without roots no path may be named; with all of them any may, from the caller's folder on", () => {
  using closed = openPlace({ roots: [] });
  const path = closed.at("open", "a.yaml");
  expect(codeOf(() => closed.sources.load({ kind: "path", path }, caller))).toBe("forbidden");
  using local = openPlace({ roots: "*" });
  const there = createTestCaller({ work_dir: local.at("closed") });
  expect(local.sources.load({ kind: "path", path: "a.yaml" }, there).base_dir).toBe(
    local.at("closed"),
  );
  expect(codeOf(() => local.sources.load({ kind: "path", path: "b.yaml" }, there))).toBe(
    "team_not_found",
  );
});

test("what is no plain file of a fair size is refused without waiting for it", () => {
  using place = openPlace();
  const pipe = place.at("open", "pipe.yaml");
  execFileSync("mkfifo", [pipe]);
  mkdirSync(place.at("open", "folder.yaml"));
  writeFileSync(place.at("open", "large.yaml"), "#".repeat(4 * limits.team_chars + 1));
  for (const name of ["pipe", "folder", "large"]) {
    const path = place.at("open", `${name}.yaml`);
    expect([name, codeOf(() => place.sources.load({ kind: "path", path }, caller))]).toEqual([
      name,
      "team_invalid",
    ]);
  }
});

test("names are those of the configuration and of the folder; others are not found", () => {
  using place = openPlace();
  const sources = new TeamSources({
    folder: place.at("teams"),
    named: { mine: place.at("closed", "a.yaml") },
    roots: [],
  });
  writeFileSync(place.at("teams", "theirs.yaml"), TEAM);
  expect(sources.load({ kind: "name", name: "mine" }, caller).base_dir).toBe(place.at("closed"));
  expect(sources.load({ kind: "name", name: "theirs" }, caller).base_dir).toBe(place.at("teams"));
  for (const name of ["none", "../open/a", "theirs.yaml", "constructor", ""])
    expect(codeOf(() => sources.load({ kind: "name", name }, caller))).toBe("team_not_found");
});

test("the list goes by pages, and says what is wrong with a broken one", () => {
  using place = openPlace();
  expect(place.sources.list({})).toEqual({ teams: [], cursor: null });
  for (const name of ["b", "a", "c"]) writeFileSync(place.at("teams", `${name}.yaml`), TEAM);
  writeFileSync(place.at("teams", "d.yaml"), "agents: 1\n");
  writeFileSync(place.at("teams", "notes.txt"), "");
  const first = place.sources.list({ limit: 3 });
  expect(first.teams).toEqual(["a", "b", "c"].map((name) => ({ name, description: "Helps." })));
  expect(first.cursor).toBe("c");
  const second = place.sources.list({ limit: 3, cursor: "c" });
  expect(second).toMatchObject({ teams: [{ name: "d", description: "" }], cursor: null });
  expect(second.teams[0]?.problem).toContain("d.yaml:1:");
});

test("a text is known by its id to who has loaded it, as long as it is among the last", () => {
  using place = openPlace();
  const { sources } = place;
  const { team_id } = sources.load(inline, caller).team;
  expect(team_id).toMatch(/^team_[0-9a-f]{32}$/);
  expect(sources.get(team_id, caller).yaml).toBe(TEAM);
  const other = createTestCaller({ token_id: "tok_other" });
  expect(codeOf(() => sources.get(team_id, other))).toBe("team_not_found");
  for (let index = 0; index < 64; index += 1)
    sources.load({ kind: "inline", yaml: `${TEAM}# ${index}\n` }, caller);
  expect(codeOf(() => sources.get(team_id, caller))).toBe("team_not_found");
});

test("the id of a named team is known to everybody, also after a restart", () => {
  using place = openPlace();
  writeFileSync(place.at("teams", "broken.yaml"), "agents: 1\n");
  writeFileSync(place.at("teams", "named.yaml"), TEAM);
  const { team_id } = place.sources.load({ kind: "name", name: "named" }, caller).team;
  const again = new TeamSources({ folder: place.at("teams"), named: {}, roots: [] });
  expect(again.get(team_id, caller)).toMatchObject({ base_dir: place.at("teams"), yaml: TEAM });
});

test("the examples are known by name as long as the server has no team of its own", () => {
  using place = openPlace();
  mkdirSync(place.at("examples"));
  for (const name of ["hello", "other"]) writeFileSync(place.at("examples", `${name}.yaml`), TEAM);
  writeFileSync(place.at("examples", "broken.yaml"), "agents: 1");
  const examples = place.at("examples");
  const sources = new TeamSources({ folder: place.at("teams"), named: {}, roots: [], examples });
  const listed = sources.list({ limit: 2 });
  expect(listed).toEqual({
    teams: [
      { name: "broken", description: "", problem: expect.any(String), example: true },
      { name: "hello", description: "Helps.", example: true },
    ],
    cursor: "hello",
  });
  const loaded = sources.load({ kind: "name", name: "hello" }, caller);
  expect(loaded.base_dir).toBe(examples);
  expect(sources.get(loaded.team.team_id, createTestCaller({ user_id: "b" })).yaml).toBe(TEAM);
  writeFileSync(place.at("teams", "own.yaml"), TEAM);
  expect(sources.list({}).teams).toEqual([{ name: "own", description: "Helps." }]);
  expect(codeOf(() => sources.load({ kind: "name", name: "hello" }, caller))).toBe(
    "team_not_found",
  );
});
