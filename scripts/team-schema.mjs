// Writes schema/team.schema.json: node scripts/team-schema.mjs
import { mkdirSync, writeFileSync } from "node:fs";
import { formatTeamSchema } from "#agent/team-file/team-schema.ts";

const folder = new URL("../schema/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("team.schema.json", folder), formatTeamSchema());
