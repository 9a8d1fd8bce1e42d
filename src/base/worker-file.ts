/**
 * The file of a thread: beside the source that starts it in a checkout; in a bundle among the entries, which are the
 * folder above the chunks.
 */
export function locateWorkerFile(from: string, name: string): URL {
  if (from.endsWith(".ts")) return new URL(`./${name}.ts`, from);
  return new URL(/\/chunks\/[^/]*$/.test(from) ? `../${name}.js` : `./${name}.js`, from);
}
