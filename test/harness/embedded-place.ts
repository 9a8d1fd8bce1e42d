import { beforeAll } from "vitest";
import type { Runtime } from "#contract/runtime/runtime.ts";
import { inline, openEmbeddedPlace, type RuntimePlace } from "./runtimes.ts";

/** A place for all tests of a file, there from the first of them to the last. */
export interface SharedPlace extends Pick<RuntimePlace, "backend" | "workDir"> {
  /** An agent of a team that is written here, in the place's own directory. */
  create(yaml: string, more?: object): Promise<Runtime>;
}

/** Agents in this very process. */
export function shareEmbeddedPlace(): SharedPlace {
  let opened: RuntimePlace | undefined;
  beforeAll(async () => {
    const place = await openEmbeddedPlace();
    opened = place;
    return () => place[Symbol.asyncDispose]();
  });
  const place = () => {
    if (opened === undefined) throw new Error("the place is there while tests run");
    return opened;
  };
  return {
    get backend() {
      return place().backend;
    },
    get workDir() {
      return place().workDir;
    },
    create: (yaml, more = {}) => {
      const { backend, workDir } = place();
      return backend.create({ source: inline(yaml), working_dir: workDir, ...more });
    },
  };
}
