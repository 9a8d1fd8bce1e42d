import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createFileTools } from "#agent/files/filesystem.ts";
import { createFixedToolset } from "#agent/toolsets/fixed-toolset.ts";
import { openTempDir } from "./temp-dir.ts";
import { type CallToolset, callerOf } from "./tool-context.ts";

export interface FileTools extends Disposable {
  readonly call: CallToolset;
  /** What the tools are confined to. */
  readonly work: string;
  /** Beside it. */
  readonly outside: string;
  readonly names: readonly string[];
}

export interface FileSetting {
  readonly allow_paths?: readonly string[];
  readonly read_only?: boolean;
}

/** The filesystem tools in a directory of their own, with another one beside it. */
export function openFileTools({
  allow_paths = [],
  read_only = false,
}: FileSetting = {}): FileTools {
  const dir = openTempDir();
  const [work, outside] = [join(dir.path, "work"), join(dir.path, "outside")];
  mkdirSync(work);
  mkdirSync(outside);
  const common = { name: "filesystem", tools: undefined, instruction: undefined };
  const tools = createFileTools(
    { ...common, type: "filesystem", allow_paths, read_only },
    { work_dir: work, home: outside },
  );
  const toolset = createFixedToolset(common, { kind: "filesystem", tools });
  return {
    call: callerOf(toolset),
    work,
    outside,
    names: toolset.tools().map(({ name }) => name),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}
