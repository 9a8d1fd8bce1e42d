import type { Writable } from "node:stream";
import type { Logger } from "#base/logger.ts";

/** For a process whose stdout is a protocol: what is worth knowing goes to stderr, for people. */
export function createStderrLogger(stderr: Writable): Logger {
  const say = (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
    const said = Object.entries(fields).map(([name, value]) => ` ${name}=${describe(value)}`);
    stderr.write(`reins: ${message}${said.join("")}\n`);
  };
  return { info: () => undefined, warn: say, error: say };
}

function describe(value: unknown): string {
  return value instanceof Error ? (value.stack ?? value.message) : String(value);
}
