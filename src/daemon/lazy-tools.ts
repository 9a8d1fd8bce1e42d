import { Fault } from "#contract/fault.ts";
import type { Tools } from "#contract/tools/tools.ts";

/** Tools whose code, threads and connections come with the first call. */
export function createLazyTools(open: () => Promise<Tools>): Tools {
  const get = openOnce(open);
  return createEachTool(async (name, args) => {
    // The one that was asked for, with what it was given.
    const call = (await get())[name] as (...given: readonly unknown[]) => Promise<unknown>;
    return await call(...args);
  });
}

/** Opened for the first who asks, and shared by all; what could not be opened is tried again by the next. */
export function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}

/** For an agent that has no host: who calls one is told why there is none. */
export function createUnsupportedTools(why: string): Tools {
  return createEachTool(async () => {
    throw new Fault("unsupported", why);
  });
}

type Call = (name: keyof Tools, args: readonly unknown[]) => Promise<unknown>;

function createEachTool(call: Call): Tools {
  // Only names of the table are asked for, and each answers as its own does.
  return new Proxy({} as Tools, {
    get:
      (_target, name) =>
      (...args: readonly unknown[]) =>
        call(name as keyof Tools, args),
  });
}
