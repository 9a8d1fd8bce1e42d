import type { OutputChannel } from "#contract/channels.ts";
import { formatBytes } from "#web/ui/format.ts";

/** Slanted as well as red: nothing is said by colour alone. */
const STDERR_ON = "\x1b[3;31m";
const STDERR_OFF = "\x1b[23;39m";

/** Two pipes on one screen: each decoded by itself, for a character may be cut where the other begins. */
export class PipePrinter {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  print(bytes: Uint8Array, channel: OutputChannel): string {
    const text = this.#decoders[channel].decode(bytes, { stream: true });
    if (text === "" || channel === "stdout") return text;
    return `${STDERR_ON}${text}${STDERR_OFF}`;
  }
}

/** How much a hole in the log has taken. */
export function sayGap(bytes: number): string {
  return `${formatBytes(bytes)} ${bytes === 1 ? "is" : "are"} no longer kept`;
}

/**
 * Where something is missing nothing is known of what was before: an unfinished sequence is given up, modes and looks
 * are reset, and a line says what it is.
 */
export function drawRemark(
  text: string,
  { isAlternate }: { readonly isAlternate: boolean },
): string {
  const home = isAlternate ? "\x1b[?1049l" : "";
  const line = text.replaceAll(/[\x00-\x1f\x7f-\x9f]/g, "");
  return `\x18${home}\x1b[!p\x1b[0m\r\n\x1b[7m — ${line} — \x1b[0m\r\n`;
}
