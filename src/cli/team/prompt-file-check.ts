import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { TeamPlan } from "./team-plan.ts";

/** A file that was named on the command line has to be there. Behind a server the paths are the server's, which checks. */
export async function checkNamedFiles({
  promptFiles,
  workingDir = ".",
  remote,
}: Pick<TeamPlan, "promptFiles" | "workingDir" | "remote">): Promise<void> {
  if (remote !== undefined || promptFiles.length === 0) return;
  const { checkPromptFiles } = await import("#agent/team/prompt-files.ts");
  // As the request names them: a file that is here is meant.
  const names = promptFiles.map((file) => (existsSync(file) ? resolve(file) : file));
  await checkPromptFiles(names, {
    ...{ work_dir: resolve(workingDir), home: process.env.HOME, field: "--prompt-file" },
  });
}
