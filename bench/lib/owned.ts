/** What is open now, in the order in which it was opened. */
const open = new Set<AsyncDisposable>();
let isOver = false;

/**
 * A resource that is released once, by its owner or, when the program is interrupted, by `releaseAll`. Whoever still
 * opens something after that has it released at once and is stopped by an error.
 */
export function owned(release: () => Promise<void> | void): AsyncDisposable {
  let done: Promise<void> | undefined;
  const resource: AsyncDisposable = {
    [Symbol.asyncDispose]: () => {
      done ??= settle(release).finally(() => open.delete(resource));
      return done;
    },
  };
  open.add(resource);
  if (!isOver) return resource;
  void resource[Symbol.asyncDispose]();
  throw new Error("the run is being ended");
}

/** The last opened first. */
export async function releaseAll(): Promise<void> {
  isOver = true;
  for (let last = [...open].at(-1); last !== undefined; last = [...open].at(-1)) {
    await last[Symbol.asyncDispose]();
  }
}

async function settle(release: () => Promise<void> | void): Promise<void> {
  try {
    await release();
  } catch (error) {
    process.stderr.write(`cannot clean up: ${String(error)}\n`);
  }
}
