import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Fault } from "#contract/fault.ts";
import type { TeamPlan } from "./team-plan.ts";

/** A file that was named on the command line has to be there. Behind a server the paths are the server's. */
export async function checkPromptFiles({
  promptFiles,
  workingDir = ".",
  remote,
}: Pick<TeamPlan, "promptFiles" | "workingDir" | "remote">): Promise<void> {
  if (remote !== undefined || promptFiles.length === 0) return;
  const { readPromptFiles } = await import("#agent/team/prompt-files.ts");
  const where = { work_dir: resolve(workingDir), home: process.env.HOME };
  for (const file of promptFiles) {
    // As the request names it: a file that is here is meant.
    const name = existsSync(file) ? resolve(file) : file;
    const { files, warnings } = await readPromptFiles([name], where);
    if (files.length > 0) continue;
    const why = warnings[0] ?? `the prompt file ${file} is not there`;
    throw new Fault("invalid_request", `--prompt-file: ${why}`, { details: { path: file } });
  }
}
