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

/** Refused as soon as it is too much, and not when all of it has been read. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    // stdin gives bytes as long as no encoding is set.
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > STDIN_BYTES) throw tooLarge();
    chunks.push(bytes);
  }
  const text = cutNewlines(Buffer.concat(chunks).toString("utf8"));
  if (text.length > limits.message_chars) throw tooLarge();
  return text;
}

/** Those at its end. Step by step: a pattern would try every newline of a text that is full of them. */
export function cutNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && "\r\n".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function tooLarge(): Fault {
  const sentence = `a message has at most ${limits.message_chars} characters`;
  return new Fault("payload_too_large", sentence);
}
