import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./contender.ts", import.meta.url));

interface Contender {
  go(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** What each of so many processes got, when all were let go at once. */
export async function contend(count: number, argv: readonly string[]): Promise<unknown[]> {
  const contenders = await Promise.all(Array.from({ length: count }, () => start(argv)));
  try {
    return await Promise.all(contenders.map((contender) => contender.go()));
  } finally {
    await Promise.all(contenders.map((contender) => contender.end()));
  }
}

async function start(argv: readonly string[]): Promise<Contender> {
  const child = spawn(process.execPath, [program, ...argv], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  // One that failed has closed its end; what it had to say is its answer.
  child.stdin.on("error", () => undefined);
  await lines.next();
  return {
    async go() {
      child.stdin.write("go\n");
      const { value, done } = await lines.next();
      if (done === true) throw new Error("a contender ended without an answer");
      return JSON.parse(value);
    },
    end() {
      child.stdin.end();
      return exited;
    },
  };
}
