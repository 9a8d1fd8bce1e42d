import { fileURLToPath } from "node:url";
import { openChildProgram } from "./child-program.ts";
import { openViewer, type Viewer } from "./viewer.ts";

/** The bare server, in a process of its own. */
export interface Bare extends AsyncDisposable {
  readonly pid: number;
  terminal(argv: readonly string[]): Promise<Viewer>;
  replay(path: string): Promise<Viewer>;
  fileUrl(path: string): string;
}

const script = fileURLToPath(new URL("./bare-server.ts", import.meta.url));

export async function openBare(): Promise<Bare> {
  const child = await openChildProgram([script]);
  const at = (scheme: string, query: Record<string, string>) =>
    `${scheme}://127.0.0.1:${child.ready.port}/?${new URLSearchParams(query)}`;
  return {
    pid: child.pid,
    terminal: (argv) => openViewer(at("ws", { argv: JSON.stringify(argv) }), { wire: "bare" }),
    replay: (path) => openViewer(at("ws", { path }), { wire: "bare" }),
    fileUrl: (path) => at("http", { path }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
