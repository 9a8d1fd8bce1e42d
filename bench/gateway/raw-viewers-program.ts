// Viewers that only count, in a process of their own: sockets without a parser, so that they cost little beside what
// is measured. Commands, a line each: `open URL TOKEN COUNT`, `look`, `pause`, `close`.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { BINARY_V2 } from "#contract/terminal/input-frame.ts";

/** At once: a server accepts no more than its backlog. */
const WIDTH = 20;
const READ_BYTES = 64 * 1024;
const buffer = Buffer.allocUnsafe(READ_BYTES);
const sockets = new Set<Socket>();
let bytes = 0;

const commands: Readonly<Record<string, (words: readonly string[]) => Promise<void> | void>> = {
  open: async ([url = "", token = "", count = "0"]) => {
    let left = Number(count);
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        await open(new URL(url), token);
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, worker));
  },
  look: () => undefined,
  pause: () => {
    for (const socket of sockets) socket.pause();
  },
  close: () => {
    for (const socket of sockets) socket.destroy();
  },
};

process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", ...words] = line.split(" ");
  await commands[command]?.(words);
  process.stdout.write(`${JSON.stringify({ bytes, open: sockets.size })}\n`);
}
process.exit(0);

/** Resolves when the server has said something behind the handshake. */
function open(url: URL, token: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let [seen, isOpen] = ["", false];
  const onread = (count: number, read: Uint8Array) => {
    bytes += count;
    if (isOpen) return true;
    seen += Buffer.from(read.subarray(0, count)).toString("latin1");
    if (!seen.includes('"connected"')) return true;
    isOpen = true;
    resolve();
    return true;
  };
  const socket = connect({
    host: url.hostname,
    port: Number(url.port),
    onread: { buffer, callback: onread },
  });
  sockets.add(socket);
  socket.on("error", reject);
  socket.on("close", () => {
    sockets.delete(socket);
    reject(new Error(`refused: ${seen.slice(0, 300)}`));
  });
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${token}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    `Sec-WebSocket-Protocol: ${BINARY_V2}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return promise;
}
