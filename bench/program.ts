import { constants } from "node:os";
import { releaseAll } from "./lib/owned.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs `main`, whose answer is the exit code. However it ends, what it opened is released first; who cannot wait for
 * that sends the signal once more.
 */
export async function runProgram(main: () => Promise<number>): Promise<never> {
  const interrupted = Promise.withResolvers<number>();
  for (const signal of signals) {
    const code = 128 + constants.signals[signal];
    process.once(signal, () => {
      process.once(signal, () => process.exit(code));
      process.stderr.write("cleaning up\n");
      interrupted.resolve(code);
    });
  }
  // Thrown where nobody waits for it: what was opened is released all the same.
  process.once("uncaughtException", (error) => interrupted.resolve(sayError(error)));
  const code = await Promise.race([interrupted.promise, main().catch(sayError)]);
  await releaseAll();
  process.exit(code);
}

function sayError(error: unknown): number {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}
