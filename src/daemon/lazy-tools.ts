import { openOnce } from "#base/once.ts";
import { Fault } from "#contract/fault.ts";
import { type Tools, tools } from "#contract/tools/tools.ts";

/** Tools whose code, threads and connections come with the first call. */
export function createLazyTools(open: () => Promise<Tools>): Tools {
  const get = openOnce(open);
  return createEachTool(async (name, args) => {
    // The one that was asked for, with what it was given.
    const call = (await get())[name] as (...given: readonly unknown[]) => Promise<unknown>;
    return await call(...args);
  });
}

/** For an agent that has no host: who calls one is told why there is none. */
export function createUnsupportedTools(why: string): Tools {
  return createEachTool(async () => {
    throw new Fault("unsupported", why);
  });
}

type Call = (name: keyof Tools, args: readonly unknown[]) => Promise<unknown>;

function createEachTool(call: Call): Tools {
  const names = Object.keys(tools) as (keyof Tools)[];
  const each = names.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]);
  // One for each name of the table, which answers as its own does.
  return Object.fromEntries(each) as Tools;
}
