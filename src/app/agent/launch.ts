import { addressNamesOf, keyNamesOf } from "#agent/team/describe-team.ts";
import { loadTeam } from "#agent/team/load-team.ts";
import type { Where } from "#app/caller.ts";
import type { AgentSpec, ModelOverrides } from "#contract/agent/spec.ts";
import { findKeys, withoutKeys } from "./keys.ts";

export interface LaunchDeps {
  /** How to run `reins`. */
  readonly command: readonly string[];
  /** Where the keys of model providers are: our own environment. */
  readonly keyEnv: Readonly<Record<string, string | undefined>>;
  readonly dataDir: string;
  /** How long a worker may have nothing to do before it ends until it is needed; absent = its own choice. */
  readonly parkAfterMs?: number | undefined;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** For the worker's first line, and for nothing else; with them the addresses of providers that were chosen. */
  readonly keys: Readonly<Record<string, string>>;
}

/** What a worker is started with: the caller's environment without any key, and the keys beside it. */
export function planLaunch(
  { command, keyEnv, dataDir, parkAfterMs }: LaunchDeps,
  where: Pick<Where, "env">,
  spec: Pick<AgentSpec, "yaml" | "name" | "base_dir"> & {
    readonly model_overrides?: ModelOverrides | undefined;
  },
): Launch {
  const team = loadTeam(spec);
  const names = keyNamesOf(team, spec.model_overrides ?? {});
  const keys = findKeys(keyEnv, names);
  // No secret, so what the agent starts may know it as well.
  const addresses = findKeys(keyEnv, addressNamesOf(team, spec.model_overrides ?? {}));
  // `reins` inside of what the agent runs finds this host.
  const env = { ...withoutKeys(where.env, { names, keys }), REINS_HOME: dataDir };
  const parking = parkAfterMs === undefined ? [] : ["--park-after", String(parkAfterMs)];
  return { argv: [...command, "agent", ...parking], env, keys: { ...keys, ...addresses } };
}
