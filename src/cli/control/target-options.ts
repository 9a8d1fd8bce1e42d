import { openClient } from "#cli/target/open-client.ts";
import { findTarget, type TargetOptions } from "#cli/target/target.ts";
import type { Client } from "#client/client.ts";
import type { Session } from "#contract/session.ts";

/** Of every command that does something with one session. */
export const targetOptions = {
  to: { type: "string" },
  remote: { type: "string" },
  json: { type: "boolean" },
} as const;

interface TargetValues {
  readonly to?: string | undefined;
  readonly remote?: string | undefined;
}

/** The session that the user means, and the client that reaches it. */
export interface Target extends AsyncDisposable {
  readonly client: Client;
  readonly session: Session;
}

export async function openTarget(
  { to, remote }: TargetValues,
  options: TargetOptions = {},
): Promise<Target> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(await openClient({ to, remote }));
  const session = await findTarget(client, to, options);
  const owned = stack.move();
  return { client, session, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export function printJson(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
