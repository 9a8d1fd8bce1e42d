import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createTeamSchema, formatTeamSchema, propertiesOf } from "./team-schema.ts";

type Json = Readonly<Record<string, unknown>>;

test("the schema for editors is the one of this code; node scripts/team-schema.mjs writes it", () => {
  const written = readFileSync(
    new URL("../../../schema/team.schema.json", import.meta.url),
    "utf8",
  );
  expect(written).toBe(formatTeamSchema());
});

test("every key has a description", () => {
  expect(findBare(createTeamSchema(), "")).toEqual([]);
});

test("keys that nobody knows are refused at every level", () => {
  expect(findOpen(createTeamSchema(), "")).toEqual([]);
});

/** Keys without a word about them. */
function findBare(schema: unknown, path: string): string[] {
  if (!isJson(schema)) return [];
  const own = Object.entries(propertiesOf(schema)).flatMap(([key, property]) => [
    ...(typeof property.description === "string" ? [] : [`${path}.${key}`]),
    ...findBare(property, `${path}.${key}`),
  ]);
  return [...own, ...innerOf(schema).flatMap((inner) => findBare(inner, path))];
}

/** Maps with known keys that take others too. */
function findOpen(schema: unknown, path: string): string[] {
  if (!isJson(schema)) return [];
  const properties = Object.entries(propertiesOf(schema));
  const own = properties.length > 0 && schema.additionalProperties !== false ? [path] : [];
  const inside = properties.flatMap(([key, property]) => findOpen(property, `${path}.${key}`));
  return [...own, ...inside, ...innerOf(schema).flatMap((inner) => findOpen(inner, path))];
}

function innerOf(schema: Json): unknown[] {
  const { anyOf, oneOf, items, additionalProperties } = schema;
  return [anyOf, oneOf, items, additionalProperties].flat();
}

function isJson(held: unknown): held is Json {
  return typeof held === "object" && held !== null;
}
