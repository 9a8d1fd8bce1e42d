import { findDataDir } from "#cli/context.ts";
import { isAlive } from "#proc/identity.ts";
import { createRegistry } from "#registry/registry.ts";
import type { RunRecord } from "#registry/run-record.ts";
import { findByAddress } from "#registry/runs.ts";
import { isAddress } from "#registry/target-word.ts";
import type { PlaceOptions } from "./place.ts";
import { findSocketPath } from "./remote.ts";

/** Of this machine's runs that have an address of their own. */
export function listRecords(): RunRecord[] {
  return createRegistry(findDataDir(), { isAlive }).list();
}

/**
 * Where a command has to ask. An address that is no run's of this machine is a server's, so that server is asked; and
 * a run that is asked at its own address by `--remote` is shown its own token.
 */
export function choosePlace({
  to = "",
  remote,
}: {
  readonly to?: string | undefined;
  readonly remote?: string | undefined;
}): PlaceOptions {
  if (remote !== undefined) return withToken(remote);
  const word = to.trim();
  if (!/^https?:/i.test(word) || !isAddress(word)) return {};
  return findByAddress(listRecords(), word) === undefined ? { remote: word, isTarget: true } : {};
}

function withToken(named: string): PlaceOptions {
  const socketPath = findSocketPath(named);
  const remote = socketPath === undefined ? named : `unix:${socketPath}`;
  const token = findByAddress(listRecords(), remote)?.token;
  return token === undefined ? { remote } : { remote, token };
}
