import { Fault } from "#contract/fault.ts";
import type { Runtime } from "#contract/runtime/runtime.ts";

/** Says it all and leaves: each prompt has a turn of its own, one after the other, whoever is there or not. */
export async function sayAhead(runtime: Runtime, prompts: readonly string[]): Promise<void> {
  for (const [index, content] of prompts.entries()) {
    const isStarted = index === 0 && (await start(runtime, content));
    if (!isStarted) await runtime.followUp({ messages: [{ content }] });
  }
}

/** False when a turn runs already: of a session that goes on. */
async function start(runtime: Runtime, content: string): Promise<boolean> {
  try {
    await runtime.send([{ content }]);
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === "busy") return false;
    throw error;
  }
}
