/** What is known of a command without loading it. */
export interface CommandSpec {
  readonly summary: string;
  readonly usage: string;
  readonly options: readonly (readonly [flag: string, meaning: string])[];
  readonly examples: readonly string[];
  /** Not shown in the list of commands. */
  readonly hidden?: boolean;
  /** Its words are a program and its options, so `--help` behind them is not ours. */
  readonly takesProgram?: boolean;
  /** Those of its words that are not the program's, where that is not seen at once. */
  readonly findOwnWords?: (words: readonly string[]) => Promise<readonly string[]>;
  readonly load: () => Promise<{ readonly run: Command }>;
}

/** Gets the words behind the command's name and answers the exit code. */
export type Command = (argv: readonly string[]) => Promise<number>;
