import type { Clock } from "#base/clock.ts";
import type { Channel, HandedWiring } from "#proc/child.ts";
import type { InputQueue, WriteResult } from "#proc/input-queue.ts";
import type { Wiring, WiringEvents } from "#proc/process-child.ts";
import type { Descriptor } from "./descriptor.ts";
import type { Libc } from "./libc.ts";
import type { OutputStream } from "./output-stream.ts";
import type { FileAction } from "./posix-spawn.ts";

/** The descriptors of a child that does not exist yet, all of them ours to close. */
export interface LinuxWiring extends Wiring {
  /** What becomes of them in the child. */
  readonly actions: readonly FileAction[];
  /** The child has its own now. */
  started(): void;
}

export interface LinuxWiringDeps {
  readonly libc: Libc;
  readonly clock: Clock;
}

type Outputs = Pick<Wiring, "start" | "pause" | "resume" | "drain" | "isEnded">;

export function joinOutputs(
  outputs: readonly { readonly channel: Channel; readonly stream: OutputStream }[],
): Outputs {
  const streams = outputs.map((output) => output.stream);
  return {
    start({ onBytes, onEnd }: WiringEvents) {
      for (const { channel, stream } of outputs)
        stream.start({ onBytes: (bytes) => onBytes(channel, bytes), onEnd });
    },
    pause() {
      for (const stream of streams) stream.pause();
    },
    resume() {
      for (const stream of streams) stream.resume();
    },
    drain() {
      for (const stream of streams) stream.drain();
    },
    isEnded: () => streams.every((stream) => stream.isEnded),
  };
}

const EINTR = 4;
const EAGAIN = 11;

export function writeNow(libc: Libc, { fd }: Descriptor, bytes: Uint8Array): WriteResult {
  if (fd === undefined) return "gone";
  const written = libc.write(fd, bytes);
  if (written > 0) return written;
  return written === -EAGAIN || written === -EINTR || written === 0 ? "full" : "gone";
}

/** What an input has taken and not written, for the next program. */
export function handInput(input: InputQueue): Pick<HandedWiring, "input_b64" | "input_ending"> {
  const { bytes, isEnding } = input.handOver();
  return { input_b64: bytes.toString("base64"), input_ending: isEnding };
}

/** Goes on with what the program before us had taken. */
export function takeInput(input: InputQueue, handed: HandedWiring): void {
  input.push(Buffer.from(handed.input_b64, "base64"));
  if (handed.input_ending) input.end();
}
