import * as z from "zod";
import { acts, type DefinedTool, defineTool, reads } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import { limits } from "#contract/limits.ts";
import { editFile, writeFile } from "./change-file.ts";
import { createFileScope, type FileScope } from "./file-scope.ts";
import { findPaths, listDirectory, searchFiles } from "./find-files.ts";
import { readFile, SHOWN_LINES } from "./read-file.ts";

type FilesystemConfig = Extract<ToolsetConfig, { type: "filesystem" }>;

const WRITTEN_CHARS = limits.body_bytes;
const EDITS = 100;

const Path = z.string().min(1).max(limits.path_bytes);
const FilePath = Path.describe("The file, from the work directory or absolute.");
const FolderPath = Path.optional().describe("Where to look; absent: the work directory.");

/** Files of the work dir and of what else is allowed. With `read_only` the tools that write do not exist. */
export function createFileTools(
  { allow_paths, read_only }: FilesystemConfig,
  { work_dir, home }: { readonly work_dir: string; readonly home: string },
): readonly DefinedTool[] {
  const scope = createFileScope({ work_dir, allow_paths, home });
  return read_only
    ? createReadTools(scope)
    : [...createReadTools(scope), ...createWriteTools(scope)];
}

function createReadTools(scope: FileScope): readonly DefinedTool[] {
  return [
    defineTool({
      name: "read_file",
      description:
        "Read a text file, or look at an image (PNG, JPEG, GIF, WebP). Up to 2000 lines come at once; the last line of the answer tells where to go on. Read a file before you edit it.",
      input: z.strictObject({
        path: FilePath,
        offset: z.int().min(1).optional().describe("The first line to show, from 1."),
        limit: z.int().min(1).max(SHOWN_LINES).optional().describe("How many lines; default 2000."),
      }),
      hints: reads,
      run: ({ path, ...range }) => readFile(scope, path, range),
    }),
    defineTool({
      name: "list_directory",
      description:
        "List what lies in a directory: folders end in /, files have their size, links show where they lead. Use glob to look into folders below as well.",
      input: z.strictObject({ path: FolderPath }),
      hints: reads,
      run: ({ path = "." }) => listDirectory(scope, path),
    }),
    defineTool({
      name: "glob",
      description:
        'Find files and folders by name, as "*.ts" (at any depth), "src/**/*.test.ts" or "docs/{a,b}.md". node_modules and .git are left out, links are not followed. To look for what is in files use search_files.',
      input: z.strictObject({
        pattern: z
          .string()
          .min(1)
          .max(limits.wait_pattern_chars)
          .describe("* and ? within a name, ** across folders, [a-z], {a,b}."),
        path: FolderPath,
      }),
      hints: reads,
      run: ({ pattern, path = "." }, { signal }) => findPaths(scope, pattern, { path, signal }),
    }),
    defineTool({
      name: "search_files",
      description:
        "Find the lines that match a regular expression, as path:line: text. node_modules, .git, binary files and links are left out. Use it to find where something is defined or used, then read_file with an offset.",
      input: z.strictObject({
        pattern: z
          .string()
          .min(1)
          .max(limits.wait_pattern_chars)
          .describe("A JavaScript regular expression, matched against each line."),
        path: Path.optional().describe("A folder or one file; absent: the work directory."),
        glob: z
          .string()
          .min(1)
          .max(limits.wait_pattern_chars)
          .optional()
          .describe('Only files of this name, as "*.ts" or "src/**/*.md".'),
        ignore_case: z.boolean().optional().describe("Small and capital letters are the same."),
      }),
      hints: reads,
      run: ({ path = ".", ...request }, { signal }) =>
        searchFiles(scope, { ...request, path, signal }),
    }),
  ];
}

function createWriteTools(scope: FileScope): readonly DefinedTool[] {
  return [
    defineTool({
      name: "write_file",
      description:
        "Write a whole file; what was in it is replaced, folders that are missing are made. Use it for new files and for complete rewrites; to change a part use edit_file.",
      input: z.strictObject({
        path: FilePath,
        content: z.string().max(WRITTEN_CHARS).describe("All that is to be in the file."),
      }),
      hints: acts,
      run: ({ path, content }) => writeFile(scope, path, content),
    }),
    defineTool({
      name: "edit_file",
      description:
        "Change parts of a text file: each old text is replaced by its new one. An old text must be in the file exactly once, word for word with all blanks, so take enough of the lines around it; or set all to change every one. Either all edits are made or none.",
      input: z.strictObject({
        path: FilePath,
        edits: z
          .array(
            z.strictObject({
              old: z.string().max(WRITTEN_CHARS).describe("The text as it stands in the file."),
              new: z.string().max(WRITTEN_CHARS).describe("What to put in its place."),
              all: z.boolean().optional().describe("Change every place, not just the only one."),
            }),
          )
          .min(1)
          .max(EDITS)
          .describe("The changes; each one sees what those before it have made."),
      }),
      hints: acts,
      run: ({ path, edits }) => editFile(scope, path, edits),
    }),
  ];
}
