import { expect, test } from "vitest";
import { offerCommands } from "./slash.ts";

const commands = { test: "Run the tests", tour: "Show all", ask: "Ask me" };
const names = (text: string) => offerCommands(commands, text).map(({ name }) => name);

test("a slash offers all commands, and letters those that begin with them", () => {
  expect(names("/")).toEqual(["ask", "test", "tour"]);
  expect(names("/T")).toEqual(["test", "tour"]);
  expect(names("/to")).toEqual(["tour"]);
});

test("nothing is offered in the middle of a text or behind a name", () => {
  expect(["", "t", "a /t", "/tour ", "/tour x", "/etc/passwd", "/\n"].flatMap(names)).toEqual([]);
});
