import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Logger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { openStore, type Store } from "#store/store.ts";
import type { MintedToken, TokenContent } from "#store/tokens.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

export interface TestStore extends Disposable {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly path: string;
  readonly folder: string;
  /** What the store had to say. */
  readonly said: readonly string[];
  /** Another connection to the same file. */
  openAnother(): Store;
  /** Behind the store's back. */
  sql(text: string): unknown[];
  token(content?: Partial<TokenContent> & { readonly expires_in_ms?: number }): MintedToken;
}

/** A real file in a directory of its own, on a clock that stands still. */
export function openTestStore(): TestStore {
  using stack = new DisposableStack();
  const folder = stack.use(openTempDir()).path;
  const path = join(folder, "reins.db");
  const clock = new ManualClock();
  const said: string[] = [];
  const open = () => stack.use(openStore({ path, clock, log: collect(said) }));
  const store = open();
  const owned = stack.move();
  return {
    store,
    clock,
    path,
    folder,
    said,
    openAnother: () => owned.use(openStore({ path, clock })),
    sql: (text) => runSql(path, text),
    token: (content) =>
      store.tokens.create({
        ...{ label: "", user_id: "ann", role: "operator", workspaces: "*" },
        ...content,
      }),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

export function runSql(path: string, text: string): unknown[] {
  using connection = new DatabaseSync(path, { timeout: 5000 });
  return connection.prepare(text).all();
}

export function collect(said: string[]): Logger {
  const say = (message: string) => void said.push(message);
  return { info: say, warn: say, error: say };
}
