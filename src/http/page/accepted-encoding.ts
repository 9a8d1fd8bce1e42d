import type { Encoding } from "./page-files.ts";

/** The smallest first. */
const PREFERRED = ["br", "gzip"] as const satisfies readonly Encoding[];

/** The best of those that there are and that the header takes; as it is, when it takes none. */
export function chooseEncoding(
  header: string | undefined,
  has: (encoding: Encoding) => boolean,
): Encoding {
  const weights = parseWeights(header ?? "");
  const accepts = (encoding: Encoding) => (weights.get(encoding) ?? weights.get("*") ?? 0) > 0;
  return PREFERRED.find((encoding) => has(encoding) && accepts(encoding)) ?? "identity";
}

function parseWeights(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim());
    const weight = parameters.find((word) => word.startsWith("q="))?.slice(2);
    if (name !== "") weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  return weights;
}
