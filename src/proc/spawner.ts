import type { Clock } from "#base/clock.ts";
import type { Child, ChildListener, HandedChild, Spawner } from "./child.ts";

export interface SpawnerOptions {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The process has no other children, adopts orphans and reaps them: true in the host alone. */
  readonly isHost: boolean;
  /** Off: trees are found by their marks alone, as where no cgroup can be made. */
  readonly cgroups?: boolean;
  readonly wrap?: (argv: readonly string[]) => readonly string[];
  /** What the program that was in this process before has left to us. */
  readonly inherited?: Inherited | undefined;
}

export interface Inherited {
  /** Children that will be adopted. */
  readonly pids: ReadonlySet<number>;
  readonly limit_marks: ReadonlySet<number>;
}

export interface OpenSpawner extends Spawner, Disposable {
  /** Undefined where another program cannot take this process over with its children. */
  readonly succession?: Succession;
}

interface NextProgram {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors that it finds open, besides the standard ones. All others are closed by the kernel. */
  readonly keep: readonly number[];
}

/** Another program in the place of this one, in the same process, so that its children stay its children. */
export interface Succession {
  /** Does not return; throws when it could not be done, and then nothing has changed. */
  replace(next: NextProgram): never;
  /** Right after it: what it was given must not reach its own children. */
  claim(descriptors: readonly number[]): void;
  adopt(sessionId: string, handed: HandedChild, listener: ChildListener): Child;
}
