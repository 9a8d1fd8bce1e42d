import { dirname, join } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { findImports, type Import, isTest, listFiles, packageOf, readFile } from "./sources.ts";

/** Direction is data: a folder imports what its line names and nothing else of ours. */
const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  contract: [],
  log: ["base", "contract"],
  proc: ["base", "contract"],
  host: ["base", "contract", "log", "proc"],
  session: ["base", "contract", "log", "host"],
  screen: ["base", "contract", "log", "session"],
  store: ["base", "contract"],
  model: ["base", "contract"],
  agent: ["base", "contract", "model"],
  app: ["base", "contract", "log", "host", "session", "screen", "store", "agent"],
  tools: ["base", "contract", "log", "host", "session", "screen", "app"],
  registry: ["base", "contract"],
  client: ["contract"],
  http: ["base", "contract", "session", "app"],
  mcp: ["base", "contract", "app", "tools", "client", "registry"],
  daemon: [
    ...["base", "contract", "log", "proc", "host", "session", "screen", "store", "model"],
    ...["agent", "app", "tools", "registry", "client", "http", "mcp"],
  ],
  cli: ["base", "contract", "log", "proc", "host", "session", "app", "tools", "registry", "client"],
};

/** The composition roots are heavy: the cli loads them only when a command needs them. */
const lazyLayers: Readonly<Record<string, readonly string[]>> = {
  cli: ["daemon", "store", "model", "agent", "http", "mcp"],
};

/** Who may import a dependency. One folder wraps it; zod also describes what the host keeps on disk. */
const packages: Readonly<Record<string, readonly string[]>> = {
  zod: ["contract", "host", "store", "model", "agent", "http", "mcp", "daemon"],
  koffi: ["proc"],
  ink: ["cli"],
  react: ["cli"],
  marked: ["cli"],
  "@lydell/node-pty": ["proc"],
  "@xterm/headless": ["screen"],
  "@xterm/addon-unicode-graphemes": ["screen"],
  hono: ["http"],
  "@hono/node-server": ["http"],
  ws: ["http", "cli"],
  unbash: ["base", "agent", "tools"],
  re2js: ["base"],
  "@modelcontextprotocol/server": ["mcp"],
  "@modelcontextprotocol/client": ["agent"],
  yaml: ["model", "agent", "daemon"],
  "@ai-sdk/provider": ["model"],
  "@ai-sdk/openai": ["model"],
  "@ai-sdk/anthropic": ["model"],
  "@ai-sdk/google": ["model"],
  "@ai-sdk/openai-compatible": ["model"],
};

const testPackages = [
  "vitest",
  "fast-check",
  "marked",
  "ws",
  "@alibaba-group/opensandbox",
  "@seriousme/openapi-schema-validator",
  "@modelcontextprotocol/client",
];

const sources = listFiles("src/**/*.ts");
const page = listFiles("web/**/*.{ts,tsx}");

test("every source lies in a layer, at most two levels deep", () => {
  const isInPlace = (file: string) => {
    const folders = file.split("/").slice(1, -1);
    return layers[folders[0] ?? ""] !== undefined && folders.length <= 2;
  };
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter((file) => !isInPlace(file))).toEqual([]);
});

test("a source imports only the layers below it", () => {
  expect(findWrong(sources, (file, found) => isAllowed(file, found))).toEqual([]);
});

test("a source imports only the packages that its layer wraps", () => {
  const isWrapped = (file: string, { from }: Import) => {
    const name = packageOf(from);
    if (name === undefined || packages[name]?.includes(layerOf(file)) === true) return true;
    return isTest(file) && testPackages.includes(name);
  };
  expect(findWrong(sources, isWrapped)).toEqual([]);
});

test("folders of a layer do not import each other in circles", () => {
  const rooms = findRooms([...sources, ...page].filter((file) => !isTest(file)));
  const circular = [...rooms.keys()].filter((room) => reachable(rooms, room).has(room));
  expect(circular).toEqual([]);
});

test("nothing is imported by ../", () => {
  const files = listFiles("{src,test,bench,web}/**/*.{ts,tsx}");
  expect(findWrong(files, (_file, { from }) => !from.startsWith(".."))).toEqual([]);
});

describe("the table", () => {
  test("is the one that AGENTS.md shows", () => {
    const rows = [...readFile("AGENTS.md").matchAll(/^\| `src\/(\w+)\/` \|.*\| ([\w ]*)\|$/gm)];
    const shown = Object.fromEntries(rows.map((row) => [row[1] ?? "", (row[2] ?? "").trim()]));
    const folders = [...new Set(sources.map((file) => layerOf(file)))];
    const words: Record<string, string> = { daemon: "all but cli", cli: "all" };
    const expected = folders.map((name) => [name, words[name] ?? layers[name]?.join(" ")]);
    expect(shown).toEqual(Object.fromEntries(expected));
  });

  test("names only layers", () => {
    const named = [...Object.values(layers), ...Object.values(lazyLayers)].flat();
    expect(named.filter((name) => layers[name] === undefined)).toEqual([]);
  });

  test("has no way back from a layer to itself", () => {
    const reaches = (from: string): string[] =>
      (layers[from] ?? []).flatMap((to) => [to, ...reaches(to)]);
    expect(Object.keys(layers).filter((name) => reaches(name).includes(name))).toEqual([]);
  });
});

function findWrong(
  files: readonly string[],
  isRight: (file: string, found: Import) => boolean,
): string[] {
  return files.flatMap((file) =>
    findImports(readFile(file))
      .filter((found) => !isRight(file, found))
      .map((found) => `${file}: ${found.from}`),
  );
}

function isAllowed(file: string, { from, lazy }: Import): boolean {
  if (!from.startsWith("#")) return true;
  const layer = layerOf(file);
  const target = from.slice(1).split("/")[0] ?? "";
  if (target === "test") return isTest(file) && from.startsWith("#test/harness/");
  if (target === layer || layers[layer]?.includes(target) === true) return true;
  return lazy && lazyLayers[layer]?.includes(target) === true;
}

/** Room → the other rooms of its layer that it imports. */
function findRooms(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Set(files.map((file) => dirname(file)));
  // A file beside a folder of its name is the folder's own: `operations.ts` belongs to `operations/`.
  const roomOf = (file: string) => {
    const named = file.replace(/\.tsx?$/, "");
    return folders.has(named) ? named : dirname(file);
  };
  const rooms = new Map<string, Set<string>>();
  for (const file of files) {
    const room = roomOf(file);
    const others = findImports(readFile(file))
      .map(({ from }) => pathOf(file, from))
      .filter((path) => path !== undefined)
      .filter((path) => layerOf(path) === layerOf(file) && roomOf(path) !== room)
      .map((path) => roomOf(path));
    rooms.set(room, new Set([...(rooms.get(room) ?? []), ...others]));
  }
  return rooms;
}

/** From the root of the repository; undefined for a package. */
function pathOf(file: string, from: string): string | undefined {
  if (from.startsWith("./")) return join(dirname(file), from);
  if (!from.startsWith("#")) return undefined;
  return /^#(?:test|web|bench)\//.test(from) ? from.slice(1) : `src/${from.slice(1)}`;
}

function reachable(rooms: ReadonlyMap<string, ReadonlySet<string>>, from: string): Set<string> {
  const seen = new Set<string>();
  const next = [...(rooms.get(from) ?? [])];
  for (let room = next.pop(); room !== undefined; room = next.pop()) {
    if (seen.has(room)) continue;
    seen.add(room);
    next.push(...(rooms.get(room) ?? []));
  }
  return seen;
}

/** The folder below `src`, or `web`. */
function layerOf(path: string): string {
  const [top = "", folder = ""] = path.split("/");
  return top === "web" ? top : folder;
}
