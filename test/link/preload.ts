import { syncBuiltinESMExports } from "node:module";
import net, { type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemClock } from "#base/clock.ts";
import { createMemoryPair } from "#session/testing/memory-pair.ts";
import { openRandom } from "#test/harness/random.ts";

/**
 * Loaded before a program by `npm run test:link`: puts a pair of streams in memory between each client of a host and
 * the host's socket. `slow` delays and splits everything, `cut` ends each connection every few seconds.
 */
const HOST_SOCKET = /\/(?:host|reins-\d+\/[0-9a-f]{16})\.sock$/;
const DELAY_MS = 20;
const CUT_EVERY_MS = 5000;

const mode = process.env.REINS_TEST_LINK;
const connect = net.createConnection;
const { below } = openRandom(process.pid);

function connectThroughPair(path: string): Duplex {
  const socket: Socket = connect(path);
  const isSlow = mode === "slow";
  const pair = createMemoryPair({
    clock: systemClock,
    ...(isSlow ? { delayMs: DELAY_MS, random: () => below(1000) / 1000 } : {}),
  });
  socket.on("connect", () => pair.near.emit("connect"));
  socket.on("error", (error) => pair.near.destroy(error));
  pair.far.on("error", () => socket.destroy());
  pair.far.on("close", () => socket.destroy());
  pair.far.pipe(socket).pipe(pair.far);
  if (mode === "cut") {
    const timer = setInterval(() => pair.cut(), CUT_EVERY_MS);
    timer.unref();
    pair.near.on("close", () => clearInterval(timer));
  }
  // The pid at the other end is read from the real socket.
  Object.defineProperty(pair.near, "_handle", { get: () => Reflect.get(socket, "_handle") });
  return pair.near;
}

if (mode === "slow" || mode === "cut") {
  const replaced = (...args: unknown[]) =>
    typeof args[0] === "string" && HOST_SOCKET.test(args[0])
      ? connectThroughPair(args[0])
      : (connect as (...given: unknown[]) => Socket)(...args);
  net.createConnection = replaced as typeof net.createConnection;
  syncBuiltinESMExports();
}
