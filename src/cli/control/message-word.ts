import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";

/** A character of UTF-8 has up to so many bytes. */
const STDIN_BYTES = 4 * limits.message_chars;

/** The one word of the command, or all of stdin for `-`, without the newlines at its end. */
export async function readMessage(words: readonly string[]): Promise<string> {
  const [word, ...rest] = words;
  if (word === undefined)
    throw new Fault("invalid_request", "say what to send: reins send MESSAGE, or `-` for stdin");
  if (rest.length > 0)
    throw new Fault("invalid_request", "a message is one word for the shell: put it in quotes");
  return word === "-" ? await readStdin() : word;
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    // stdin gives bytes as long as no encoding is set.
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > STDIN_BYTES)
      throw new Fault(
        "payload_too_large",
        `a message has at most ${limits.message_chars} characters`,
      );
    chunks.push(bytes);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/[\r\n]+$/, "");
}
