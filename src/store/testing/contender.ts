import { createInterface } from "node:readline";
import { systemClock } from "#base/clock.ts";
import { openLocalToken } from "#store/local-token.ts";
import { openMemories } from "#store/memory.ts";
import { openDatabase } from "#store/open-database.ts";
import { openStore, type Store } from "#store/store.ts";

/**
 * A process of its own that does one thing to a store when told to, at the same moment as others:
 *   → ready        ← go        → what it got, as JSON        ← the end of its input, and it ends
 * Until then it keeps the file open, as a gateway would.
 */
const [path = "", deed = "", argument = ""] = process.argv.slice(2);

const withStore = (work: (store: Store) => unknown) => () => {
  const store = openStore({ path, clock: systemClock });
  return { held: store, got: work(store) };
};

const deeds: Readonly<Record<string, () => { held: Disposable; got: unknown }>> = {
  take: withStore((store) => store.tickets.take(argument)?.token_id ?? null),
  swap: withStore((store) => store.shells.swapRunning(argument, null, String(process.pid))),
  local: withStore((store) => {
    const { token, secret } = openLocalToken(store, argument);
    return { token_id: token.token_id, secret };
  }),
  remember: () => {
    const held = openMemories({ path, clock: systemClock });
    return { held, got: held.of(argument).add(`process ${process.pid}`).memory_id };
  },
  migrate: () => {
    const database = openDatabase(path, JSON.parse(argument));
    return { held: database, got: database.number("PRAGMA user_version") };
  },
};

process.stdout.write("ready\n");
const input = createInterface(process.stdin);
input.once("line", () => {
  const done = deeds[deed]?.();
  process.stdout.write(`${JSON.stringify(done?.got)}\n`);
  input.once("close", () => done?.held[Symbol.dispose]());
});
