import { expect, test } from "vitest";
import { findImports, isTest, listFiles, readFile } from "./sources.ts";

const sources = listFiles("src/**/*.ts").filter((file) => !isTest(file));

function findLoaders(name: RegExp): string[] {
  return sources.filter((file) =>
    findImports(readFile(file)).some(({ from, lazy }) => !lazy && name.test(from)),
  );
}

/** They take longer to load than most commands take. */
test("only the chat view loads Ink, React and marked", () => {
  const loaders = findLoaders(/^(ink|react|marked)$/);
  expect(loaders.length).toBeGreaterThan(3);
  expect(loaders.filter((file) => !file.startsWith("src/cli/chat-view/"))).toEqual([]);
});

test("nothing loads the chat and its view but who opens them", () => {
  const views = findLoaders(/\bchat-view\//);
  expect(views.filter((file) => !file.startsWith("src/cli/chat-view/"))).toEqual([]);
  const chats = findLoaders(/\bchat\//);
  expect(chats.filter((file) => !/^src\/cli\/chat(-view)?\//.test(file))).toEqual([]);
});
