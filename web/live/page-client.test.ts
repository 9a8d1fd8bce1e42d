import { expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import { sayFault } from "./page-client.ts";

test.each([
  ["cart.py: no such file", "cart.py: no such file"],
  ["work_dir: must be absolute", "work_dir: must be absolute"],
  ["cannot run \u202efdp", "cannot run ⟨U+202E⟩fdp"],
])("the words of a server are not changed: %s", (message, shown) => {
  expect(sayFault(new Fault("invalid_request", message))).toBe(shown);
});

test("a server that is away and a mistake of the page are said in whole sentences", () => {
  expect(sayFault(new Fault("host_unavailable", "x"))).toBe("Can't reach the server right now.");
  expect(sayFault(new Error("x is undefined"))).toBe(
    "Something went wrong in this page: x is undefined",
  );
});
