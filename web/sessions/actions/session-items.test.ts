import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { listItems } from "./session-items.ts";

function labels(kind: Session["kind"], state: string, mayChange: boolean): string[] {
  // The items depend on nothing else.
  const session = { kind, state: { kind: state } } as unknown as Session;
  return listItems(session, mayChange).map(({ label }) => label);
}

const always = ["Copy link", "Copy id"];
const terminal = ["Show recording", "Export as asciicast", "Export as text"];

test("what runs can be interrupted and closed, what has ended removed", () => {
  expect(labels("terminal", "running", true)).toEqual([
    ...["Rename", ...always, ...terminal, "Interrupt", "Close"],
  ]);
  expect(labels("command", "exited", true)).toEqual(["Rename", ...always, ...terminal, "Remove"]);
  expect(labels("command", "lost", true)).toContain("Remove");
});

test("an agent has no recording, and is taken along as a conversation", () => {
  expect(labels("agent", "running", true)).toEqual([
    ...["Rename", ...always, "Export as Markdown", "Export as JSON", "Interrupt", "Close"],
  ]);
});

test("a viewer is offered only what he may", () => {
  expect(labels("terminal", "running", false)).toEqual([...always, ...terminal]);
  expect(labels("agent", "exited", false)).toEqual([
    ...[...always, "Export as Markdown", "Export as JSON"],
  ]);
});
