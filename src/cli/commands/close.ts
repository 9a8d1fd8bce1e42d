import type { SessionOperations } from "#app/session.ts";
import { openLocal } from "#cli/context.ts";
import { exitCodeOf, sayFault } from "#cli/exit.ts";
import { parseOptions } from "#cli/options.ts";
import { createTargetPlace, findTarget, type TargetPlace } from "#cli/place/target.ts";
import { Fault } from "#contract/fault.ts";
import { defined } from "#contract/values/defined.ts";
import { describeState } from "./ps.ts";

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    reason: { type: "string" },
    purge: { type: "boolean" },
    to: { type: "string", multiple: true },
    remote: { type: "string" },
    json: { type: "boolean" },
  });
  // An empty word is a variable that was not set: it must not close whatever is the newest.
  const words = [...positionals, ...(values.to ?? [])];
  if (words.length === 0 || words.some((word) => word.trim() === ""))
    throw new Fault("invalid_request", "say which: reins close ID… (reins ps lists them)");
  await using there = await openSessions(values.remote);
  const closeOne = async (word: string): Promise<number> => {
    try {
      const { session_id } = await findTarget(there.place, word);
      const session = await there.close({
        session_id,
        ...defined({ reason: values.reason, purge: values.purge }),
      });
      const line =
        values.json === true
          ? JSON.stringify(session)
          : `${session_id} ${describeState(session.state)}`;
      process.stdout.write(`${line}\n`);
      return 0;
    } catch (error) {
      sayFault(error);
      return exitCodeOf(error);
    }
  };
  const codes = await Promise.all(words.map(closeOne));
  return codes.find((code) => code !== 0) ?? 0;
}

interface Sessions extends AsyncDisposable {
  readonly place: TargetPlace;
  readonly close: SessionOperations["session.close"];
}

async function openSessions(remote: string | undefined): Promise<Sessions> {
  if (remote === undefined) {
    const { operations, [Symbol.dispose]: dispose } = await openLocal();
    const place = createTargetPlace(operations);
    const close = operations["session.close"];
    return { place, close, [Symbol.asyncDispose]: async () => dispose() };
  }
  const [{ openPlace }, { choosePlace }] = await Promise.all([
    import("#cli/place/place.ts"),
    import("#cli/place/records.ts"),
  ]);
  const place = await openPlace(choosePlace({ remote }));
  return {
    place,
    close: (input) => place.call("session.close", input),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}
