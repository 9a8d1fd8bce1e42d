import { Writable } from "node:stream";

/**
 * From now on stdout is the protocol's: what anything else in this process prints there goes to stderr, because one
 * stray line would end the conversation.
 */
export function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const protocol = new Writable({
    write: (chunk: Buffer, encoding, done) => void write(chunk, encoding, done),
  });
  // Each answer that waits for room listens, and there are as many as there are calls.
  return protocol.setMaxListeners(0);
}
