import { fileURLToPath } from "node:url";
import { openChildProgram } from "./child-program.ts";
import type { TempGateway } from "./temp-gateway.ts";

/** Viewers by the hundred, in a process of their own. */
export interface RawViewers extends AsyncDisposable {
  open(sessionId: string, count: number, query?: string): Promise<void>;
  /** Bytes that have come so far, and sockets that are open. */
  look(): Promise<Looked>;
  /** From now on none of them reads. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

export interface Looked {
  readonly bytes: number;
  readonly open: number;
}

const script = fileURLToPath(new URL("./raw-viewers-program.ts", import.meta.url));

export async function openRawViewers(gateway: TempGateway): Promise<RawViewers> {
  const child = await openChildProgram([script]);
  const look = async (line: string): Promise<Looked> => {
    const { bytes = 0, open = 0 } = await child.ask(line);
    return { bytes, open };
  };
  return {
    open: async (sessionId, count, query = "since=tail") => {
      await look(`open ${gateway.attachUrl(sessionId, query)} ${gateway.token} ${count}`);
    },
    look: () => look("look"),
    pause: async () => void (await look("pause")),
    close: async () => void (await look("close")),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
