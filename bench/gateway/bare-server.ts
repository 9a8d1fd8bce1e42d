// What Reins is measured against: the shortest server that does the same, in one process and without a log.
//   ws   /pty?argv=JSON   a terminal, bytes as they come in both directions
//   ws   /file?path=      a file in frames of 64 KiB
//   http /?path=          a file through a pipe
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { spawn } from "@lydell/node-pty";
import { type WebSocket, WebSocketServer } from "ws";

const FRAME_BYTES = 64 * 1024;
/** Unsent, as much as Reins lets one viewer have. */
const UNSENT_BYTES = 1024 * 1024;

const server = createServer((request, response) => {
  const path = queryOf(request.url).get("path") ?? "";
  createReadStream(path).pipe(response);
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on("connection", (socket, request) => {
  const query = queryOf(request.url);
  const path = query.get("path");
  if (path !== null) void sendFile(socket, path);
  else openTerminal(socket, JSON.parse(query.get("argv") ?? "[]"));
});
// Whoever started it has gone.
process.stdin.on("end", () => process.exit(0)).resume();
server.listen(0, "127.0.0.1", () => {
  // A TCP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port })}\n`);
});

function queryOf(url = "/"): URLSearchParams {
  return new URL(url, "http://localhost").searchParams;
}

function openTerminal(socket: WebSocket, [program = "", ...args]: readonly string[]): void {
  const pty = spawn(program, args, { cols: 80, rows: 24, encoding: null });
  // With no encoding it gives bytes, though its types say otherwise.
  pty.onData((bytes) => socket.send(bytes as unknown as Buffer, { binary: true }));
  pty.onExit(() => socket.close());
  socket.on("message", (bytes) => pty.write(String(bytes)));
  socket.on("close", () => pty.kill("SIGKILL"));
}

async function sendFile(socket: WebSocket, path: string): Promise<void> {
  let unsent = 0;
  let drained = Promise.withResolvers<void>();
  for await (const bytes of createReadStream(path, { highWaterMark: FRAME_BYTES })) {
    unsent += bytes.length;
    socket.send(bytes, () => {
      unsent -= bytes.length;
      drained.resolve();
    });
    while (unsent >= UNSENT_BYTES) {
      drained = Promise.withResolvers();
      await drained.promise;
    }
  }
}
