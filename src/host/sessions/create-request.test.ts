import { expect, test } from "vitest";
import { CreateRequest } from "./create-request.ts";

const command = { kind: "command", command: "true", work_dir: "/", env: {} };

test("only a command can have its output on one pipe", () => {
  expect(CreateRequest.parse({ ...command, merged: true })).toMatchObject({ merged: true });
  for (const kind of ["terminal", "agent"]) {
    const merged = CreateRequest.safeParse({ ...command, kind, merged: true });
    expect(merged.error?.issues).toMatchObject([{ path: ["merged"] }]);
    expect(CreateRequest.safeParse({ ...command, kind, merged: false }).success).toBe(true);
  }
});

test("an odd name in an environment that was inherited is left out and keeps nothing from running", () => {
  const env: unknown = JSON.parse('{"A":"b","__proto__":"x"}');
  expect(Object.entries(CreateRequest.parse({ ...command, env }).env)).toEqual([["A", "b"]]);
});
