/** A server that has started, as the one who started it reads of it. */
export interface Started {
  readonly url: string;
  /** The page with a ticket behind it. */
  readonly address: string;
  /** The port that was asked for, when another program has it. */
  readonly takenPort?: number | undefined;
  readonly dataDir: string;
  /** A person reads it, and is shown the one address to open. */
  readonly isTerminal: boolean;
}

/** What to do next. Elsewhere than at a terminal the lines `reins listens on URL` and `open URL` are for programs. */
export function describeStart({ url, address, takenPort, dataDir, isTerminal }: Started): string {
  const instead = takenPort === undefined ? "" : `, because port ${takenPort} is in use`;
  const head = isTerminal
    ? `Reins is running on ${new URL(url).host}${instead}. Open this address in your browser:\n\n  ${address}\n`
    : `reins listens on ${url}${instead}\nopen ${address}`;
  return `${head}
The address signs in one browser and is valid for one minute. For a new one, run: reins open
Your data is in ${dataDir}.
Press Ctrl-C to stop the server. Your sessions keep running.
`;
}
