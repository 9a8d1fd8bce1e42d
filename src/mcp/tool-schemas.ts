import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type * as z from "zod";
import { type ToolName, tools } from "#contract/tools/tools.ts";

interface ToolSchemas {
  readonly inputSchema: StandardSchemaWithJSON;
  readonly outputSchema: StandardSchemaWithJSON;
}

const made = new Map<ToolName, ToolSchemas>();

/** How a tool is described to clients. Made once, because over HTTP each request has a server of its own. */
export function schemasOf(name: ToolName): ToolSchemas {
  const known = made.get(name);
  if (known !== undefined) return known;
  const { input, output } = tools[name];
  const schemas = { inputSchema: describeOnly(input), outputSchema: describeOnly(output) };
  made.set(name, schemas);
  return schemas;
}

/** Lets every value through: what is wrong with one is found where it can be said as a fault. */
export function describeOnly(schema: z.ZodType): StandardSchemaWithJSON {
  const { jsonSchema } = schema["~standard"];
  return {
    "~standard": {
      version: 1,
      vendor: "reins",
      validate: (value) => ({ value }),
      jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) },
    },
  };
}

type Convert = StandardSchemaWithJSON["~standard"]["jsonSchema"]["input"];

function once(convert: Convert): Convert {
  const converted = new Map<string, Record<string, unknown>>();
  return (options) => {
    const known = converted.get(options.target) ?? convert(options);
    converted.set(options.target, known);
    return known;
  };
}
