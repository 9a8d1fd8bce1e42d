import { describe, expect, test } from "vitest";
import { joinCgroup } from "./join-cgroup.ts";

const plain = { procs: "/cg/procs", program: "/bin/prog", env: { PATH: "/bin" } };
const SHELL = ["/bin/sh", "-c", `echo 0 2>/dev/null >"$0"; exec "$@"`, "/cg/procs"];

describe("joining a cgroup", () => {
  test("calls the program by the name that was asked for", () => {
    expect(joinCgroup({ ...plain, argv: ["prog", "-x", ""] })).toEqual([
      ...SHELL,
      "prog",
      "-x",
      "",
    ]);
  });

  test("calls it by its path where a shell would misread or not find the name", () => {
    expect(joinCgroup({ ...plain, argv: ["-prog"] })).toEqual([...SHELL, "/bin/prog"]);
    expect(joinCgroup({ ...plain, env: {}, argv: ["prog"] })).toEqual([...SHELL, "/bin/prog"]);
  });

  test("takes what a shell would drop or change around it, and only that", () => {
    const env = { PATH: "/bin", SECRET: "s", "BASH_FUNC_f%%": "() { :; }", IFS: "x" };
    expect(joinCgroup({ ...plain, env, argv: ["prog"] })).toEqual([
      ...SHELL,
      "/usr/bin/env",
      "BASH_FUNC_f%%=() { :; }",
      "IFS=x",
      "prog",
    ]);
  });

  test("gives up where it could not be faithful", () => {
    const env = { PATH: "/bin", "a.b": "1" };
    expect(joinCgroup({ ...plain, env, argv: ["a=b"] })).toBeUndefined();
    expect(joinCgroup({ ...plain, argv: ["a=b"] })).toEqual([...SHELL, "a=b"]);
  });
});
