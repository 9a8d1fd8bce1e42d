import { findDataDir } from "#cli/program/context.ts";
import { isAlive } from "#proc/identity.ts";
import { createRegistry } from "#registry/registry.ts";
import type { RunRecord } from "#registry/run-record.ts";

/** Of this machine's runs that have an address of their own. */
export function listRecords(): RunRecord[] {
  return createRegistry(findDataDir(), { isAlive }).list();
}
