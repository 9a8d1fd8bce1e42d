import { afterAll } from "vitest";
import type { TestHost } from "./host.ts";

/** Pages of a host's list; far more than a test makes sessions. */
const PAGES = 20;

/**
 * One setting for all tests of a file that claim nothing about a host's own life: it is opened by the first test and
 * ended after the last. Each test gets it without any session, and fails when one of its sessions cannot be removed.
 * Not for tests that run concurrently.
 */
export function leaseForFile<T extends TestHost | (AsyncDisposable & { readonly host: TestHost })>(
  open: () => Promise<T>,
): () => Promise<T> {
  let opened: Promise<T> | undefined;
  afterAll(async () => await (await opened)?.[Symbol.asyncDispose]());
  return async () => {
    opened ??= open();
    const leased = await opened;
    return { ...leased, [Symbol.asyncDispose]: () => removeSessions(hostOf(leased)) };
  };
}

function hostOf(leased: TestHost | { readonly host: TestHost }): TestHost {
  return "host" in leased ? leased.host : leased;
}

/** Ends and removes every session until the host lists none. */
async function removeSessions({ client }: TestHost): Promise<void> {
  for (let page = 0; page < PAGES; page += 1) {
    const { sessions } = await client.call("session.list", {});
    if (sessions.length === 0) return;
    await Promise.all(
      sessions.map(({ session_id }) => client.call("session.close", { session_id, purge: true })),
    );
  }
  throw new Error("sessions of the test are still there");
}
