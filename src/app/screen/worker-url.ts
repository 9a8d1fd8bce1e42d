/** Beside the sources in a checkout; in a bundle beside it, under the name of its own entry. */
export function locateWorker(from: string): URL {
  const isSource = from.endsWith(".ts");
  // A chunk of the bundle lies one folder below the entries.
  const bundled = /\/chunks\/[^/]*$/.test(from) ? "../screen-worker.js" : "./screen-worker.js";
  return new URL(isSource ? "./screen-worker.ts" : bundled, from);
}
