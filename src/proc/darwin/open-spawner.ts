import type { Child, ChildListener, ChildSpec } from "#proc/child.ts";
import { checkSpec, resolveExecutable } from "#proc/executable.ts";
import { ProcessChild } from "#proc/process-child.ts";
import { findByPs, readBootSession } from "#proc/ps.ts";
import type { OpenSpawner, SpawnerOptions } from "#proc/spawner.ts";
import { unsupportedOs } from "#proc/unsupported.ts";
import { DarwinTrees } from "./darwin-trees.ts";
import { startPipes } from "./open-pipes.ts";
import { type NodePty, startTerminal } from "./open-terminal.ts";

/**
 * macOS behind the same port: PTYs by node-pty, pipes by Node, trees by `ps`. What is weaker than on Linux is said
 * in ./open-terminal.ts and ./darwin-trees.ts. Without node-pty there are no terminals, but commands run.
 */
export async function openDarwinSpawner(
  options: SpawnerOptions,
  load: () => Promise<NodePty> = () => import("@lydell/node-pty"),
): Promise<OpenSpawner> {
  const { clock, onError, wrap = (argv: readonly string[]) => argv } = options;
  const pty = await load().catch((error: unknown) => ({ missing: error }));
  const trees = new DarwinTrees({ clock, onError });

  const start = (spec: ChildSpec, program: string) => {
    const { size } = spec;
    if (size === undefined) return startPipes({ clock }, spec, program);
    if ("missing" in pty) {
      const sentence = "terminals need the package @lydell/node-pty, which is not installed here";
      throw unsupportedOs(sentence, pty.missing);
    }
    return startTerminal({ pty, clock }, { ...spec, size }, program);
  };

  const spawn = async (asked: ChildSpec, listener: ChildListener): Promise<Child> => {
    const spec = { ...asked, argv: wrap(asked.argv) };
    checkSpec(spec);
    const program = resolveExecutable(spec.argv[0] ?? "", spec.env, spec.work_dir);
    const { pid, wiring, onExit } = await start(spec, program);
    const start_time = findByPs(pid)?.start_time ?? 0;
    const identity = { pid, start_time, boot_id: readBootSession() };
    const tree = trees.open(spec, identity);
    const limit_mark = undefined;
    const child = new ProcessChild({ identity, limit_mark, listener, tree, wiring, onError });
    onExit((status) => {
      child.onReaped(status);
      trees.tellDeath();
    });
    child.start();
    return child;
  };

  return {
    spawn,
    endLeftovers: (leftovers) => trees.endLeftovers(leftovers),
    adopt() {
      throw unsupportedOs("children cannot be handed over on macOS");
    },
    [Symbol.dispose]: () => trees[Symbol.dispose](),
  };
}
