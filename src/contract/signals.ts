/** Signals that a caller may send, by name. No zod in here. */
export const signalNames = [
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGKILL",
  "SIGUSR1",
  "SIGUSR2",
  "SIGTERM",
  "SIGCONT",
  "SIGSTOP",
  "SIGTSTP",
  "SIGWINCH",
] as const;

export type SignalName = (typeof signalNames)[number];

/** Accepts `SIGINT`, `INT` and `int`; undefined for anything else. */
export function findSignal(name: string): SignalName | undefined {
  const upper = name.trim().toUpperCase();
  const full = upper.startsWith("SIG") ? upper : `SIG${upper}`;
  return signalNames.find((known) => known === full);
}
