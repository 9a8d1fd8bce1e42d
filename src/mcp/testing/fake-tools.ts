import { type ToolName, type Tools, tools } from "#contract/tools/tools.ts";

/** Handlers of a test's own; a call of another tool is a mistake of the test. */
export function createFakeTools(own: Partial<Tools>): Tools {
  const missing = Object.keys(tools).map((name) => [name, () => Promise.reject(notFaked(name))]);
  // One for each key of the table, and those given in their place.
  return { ...(Object.fromEntries(missing) as Tools), ...own };
}

function notFaked(name: ToolName | string): Error {
  return new Error(`the test has no ${name}`);
}
