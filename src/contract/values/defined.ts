/** Fields that may be undefined become fields that may be absent. */
type Defined<T> = Flat<
  { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

/** The object without its undefined fields, which is what `exactOptionalPropertyTypes` requires. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  // The type says what the filter does.
  return Object.fromEntries(kept) as Defined<T>;
}
