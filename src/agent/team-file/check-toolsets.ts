import type { Finding, Path } from "./team-problem.ts";
import type { McpEntry, ToolsetEntry } from "./toolset-entry.ts";

const ofCommand = ["args", "env", "work_dir"] as const;

/** Toolsets of one agent: names are unique, and an MCP server is reached in one way. */
export function checkToolsets(toolsets: readonly ToolsetEntry[], base: Path): Finding[] {
  const names = toolsets.map((toolset) => toolset.name ?? toolset.type);
  return toolsets.flatMap((toolset, index) => {
    const path = [...base, index];
    const own = toolset.type === "mcp" ? checkServer(toolset, path) : [];
    const name = names[index] ?? "";
    if (names.indexOf(name) === index) return own;
    const place = [...path, toolset.name === undefined ? "type" : "name"];
    const message = `there is a toolset \`${name}\` already; give this one a \`name\` of its own`;
    return [...own, { path: place, message }];
  });
}

function checkServer(toolset: McpEntry, path: Path): Finding[] {
  const { command, url } = toolset;
  if (command !== undefined && url !== undefined) {
    const message = "give `command` or `url`, not both";
    return [{ path: [...path, "url"], at_key: true, message }];
  }
  if (command === undefined && url === undefined)
    return [{ path, message: "an mcp toolset needs `command` or `url`" }];
  if (url === undefined) return checkMisplaced(toolset, path, ["headers"]);
  return [...checkMisplaced(toolset, path, ofCommand), ...checkUrl(url, [...path, "url"])];
}

function checkMisplaced(
  toolset: McpEntry,
  path: Path,
  keys: readonly ("headers" | (typeof ofCommand)[number])[],
): Finding[] {
  return keys
    .filter((key) => toolset[key] !== undefined)
    .map((key) => {
      const [right, wrong] = key === "headers" ? ["url", "command"] : ["command", "url"];
      const message = `\`${key}\` goes with \`${right}\`, not with \`${wrong}\``;
      return { path: [...path, key], at_key: true, message };
    });
}

function checkUrl(url: string, path: Path): Finding[] {
  const scheme = URL.parse(url)?.protocol;
  if (scheme === "http:" || scheme === "https:") return [];
  return [{ path, message: "`url` must be an address such as https://mcp.example.org/mcp" }];
}
