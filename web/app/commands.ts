import { useEffect } from "react";
import { Store } from "#web/live/store.ts";
import { useApp } from "./context.ts";

/** Something that a person can do here, by the palette or by keys. */
export interface Command {
  readonly id: string;
  /** Begins with a verb. */
  readonly title: string;
  readonly group: string;
  /**
   * Like `Mod+K` (⌘ on a Mac, Ctrl elsewhere), `Ctrl+Shift+P`, `/` or `g s` (one after the other). Without a modifier it
   * works only where nobody types; inside a terminal only those with Shift and a modifier, or ⌘, do.
   */
  readonly keys?: string | undefined;
  readonly run: () => void;
}

/** Those that can be done right now: each view brings its own while it is shown. */
export class Commands {
  readonly list = new Store<readonly Command[]>([]);

  add(commands: readonly Command[]): () => void {
    this.list.change((list) => [...list, ...commands]);
    return () => this.list.change((list) => list.filter((command) => !commands.includes(command)));
  }
}

/** `commands` must be made by useMemo: they are registered anew whenever it changes. */
export function useCommands(commands: readonly Command[]): void {
  const app = useApp();
  useEffect(() => app.commands.add(commands), [app, commands]);
}
