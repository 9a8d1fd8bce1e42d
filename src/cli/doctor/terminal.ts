import { messageOf } from "#base/errno.ts";
import { randomId } from "#base/random-id.ts";
import { Fault } from "#contract/fault.ts";
import type { ExitStatus } from "#proc/child.ts";
import { type Finding, failed, fine } from "./finding.ts";
import type { World } from "./world.ts";

const WORD = "reins-terminal";
/** Only says the word when it has a terminal on both sides. */
const ARGV = ["/bin/sh", "-c", `test -t 0 && test -t 1 && echo ${WORD}`];
/** More than the word is a program gone wrong. */
const OUTPUT_BYTES = 4096;

/** Opens a terminal as the host does and runs a program in it. */
export async function checkTerminal(world: World): Promise<Finding> {
  const name = "terminal";
  try {
    const { said, status } = await runInTerminal(world);
    if (status.exit_code === 0 && said.includes(WORD))
      return fine(name, "A program runs in a terminal.");
    return failed(
      name,
      `A program in a terminal ended with ${status.exit_code} and did not see its terminal.`,
      "Look whether /bin/sh works and /dev/pts is mounted.",
    );
  } catch (error) {
    const problem = error instanceof Fault ? error.details.problem : undefined;
    return failed(
      name,
      `No terminal can be opened: ${messageOf(error)}${problem === undefined ? "" : ` (${String(problem)})`}.`,
      "Look whether /dev/ptmx can be opened and /dev/pts is mounted; reinstall Reins when its native parts are missing.",
    );
  }
}

async function runInTerminal({ openSpawner, patienceMs }: World) {
  using spawner = await openSpawner();
  const { promise, resolve } = Promise.withResolvers<ExitStatus | undefined>();
  let said = "";
  // One of its own, because the processes of a session are found by it.
  const session_id = randomId("ses");
  using child = await spawner.spawn(
    {
      session_id,
      argv: ARGV,
      work_dir: "/",
      env: { PATH: "/usr/bin:/bin", REINS_SESSION_ID: session_id },
      size: { cols: 80, rows: 24 },
      stdin: true,
    },
    {
      output: (_, bytes) => {
        if (said.length < OUTPUT_BYTES) said += bytes.toString("latin1");
      },
      exited: resolve,
      final: () => undefined,
    },
  );
  // Repeated, because nothing else keeps this process alive while the tree is ended.
  const limit = setInterval(() => resolve(undefined), patienceMs);
  try {
    const status = await promise;
    if (status !== undefined) return { status, said };
    await child.endTree({ grace_ms: 0 });
    throw new Error(`a program in it did not end within ${patienceMs} ms`);
  } finally {
    clearInterval(limit);
  }
}
