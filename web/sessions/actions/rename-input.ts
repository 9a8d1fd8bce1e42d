import type { Session } from "#contract/session.ts";

export interface TypedNames {
  readonly name: string;
  readonly title: string;
}

export interface NameChanges {
  /** Null takes the name away. */
  readonly name?: string | null;
  readonly title?: string;
}

/** The changed fields; undefined when there are none. An unchanged name is not sent: an older host has none. */
export function changeNames(
  session: Pick<Session, "name" | "title">,
  typed: TypedNames,
): NameChanges | undefined {
  const name = typed.name.trim() || null;
  const title = typed.title.trim();
  const changes = {
    ...(name === session.name ? {} : { name }),
    ...(title === session.title ? {} : { title }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}
