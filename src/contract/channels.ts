/** Channels of a session's output, as numbers in the log's index and in binary frames. No zod in here. */
export const channels = { events: 0, stdout: 1, stderr: 2 } as const;

export type OutputChannel = "stdout" | "stderr";

export function channelName(number: number): OutputChannel {
  return number === channels.stderr ? "stderr" : "stdout";
}
