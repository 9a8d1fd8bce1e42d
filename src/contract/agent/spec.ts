import * as z from "zod";
import { limits } from "#contract/limits.ts";
import { SystemText } from "#contract/session.ts";

/** Where a team comes from: a file on the server, text, or a name that the server knows. */
export const TeamSource = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("path"), path: SystemText.min(1).max(limits.path_bytes) }),
  z.strictObject({
    kind: z.literal("inline"),
    yaml: z.string().min(1).max(limits.team_chars),
    /** How errors call it, and what its relative paths start from is the work dir. */
    name: z.string().min(1).max(limits.name_chars).optional(),
  }),
  z.strictObject({ kind: z.literal("name"), name: z.string().min(1).max(limits.name_chars) }),
]);
export type TeamSource = z.infer<typeof TeamSource>;

const Pattern = z.string().min(1).max(limits.permission_chars);
const Patterns = z.array(Pattern).max(limits.permission_patterns).optional();

/** Patterns of tool calls, as `shell`, `shell:command=git *`. Deny always wins, then ask, then allow. */
export const Permissions = z.strictObject({ allow: Patterns, ask: Patterns, deny: Patterns });
export type Permissions = z.infer<typeof Permissions>;

/**
 * What happens to a call that no pattern names:
 * `strict` asks for every one, `balanced` asks unless it only reads, `restricted` denies unless it only reads and
 * never asks, `autonomous` allows every one.
 */
export const SafetyMode = z.enum(["strict", "balanced", "restricted", "autonomous"]);
export type SafetyMode = z.infer<typeof SafetyMode>;

export const RunLimits = z.strictObject({
  /** US dollars. */
  max_cost: z.number().positive().optional(),
  max_tokens: z.int().positive().optional(),
  /** Milliseconds of work, waiting for people not counted. */
  max_time_ms: z.int().positive().max(limits.duration_ms).optional(),
});
export type RunLimits = z.infer<typeof RunLimits>;

/** Agent name → model; `*` means all of them. */
export const ModelOverrides = z.record(z.string().min(1), z.string().min(1).max(limits.name_chars));
export type ModelOverrides = z.infer<typeof ModelOverrides>;

export const PromptFiles = z
  .array(SystemText.min(1).max(limits.path_bytes))
  .max(limits.prompt_files);

/**
 * Everything that makes an agent session what it is, but the keys. The first worker writes it to the events log, and
 * each later life starts from there, so that a team file that changes does not change a session that runs.
 */
export const AgentSpec = z.strictObject({
  /** The team file's text as it was. */
  yaml: z.string().max(limits.team_chars),
  /** Its path or name, for messages. */
  name: z.string(),
  /** What relative paths in the file start from. */
  base_dir: z.string(),
  work_dir: z.string(),
  agent: z.string(),
  permissions: Permissions.optional(),
  safety: SafetyMode.optional(),
  limits: RunLimits.optional(),
  model_overrides: ModelOverrides.optional(),
  prompt_files: PromptFiles.optional(),
  /** The caller chose a title: none is made from the first message. */
  titled: z.boolean().optional(),
  /** Nobody can answer: what would ask is denied or declined at once. */
  headless: z.boolean().optional(),
  /** Where a fork comes from; its history was copied. */
  forked_from: z.strictObject({ session_id: z.string(), at: z.int() }).optional(),
});
export type AgentSpec = z.infer<typeof AgentSpec>;
