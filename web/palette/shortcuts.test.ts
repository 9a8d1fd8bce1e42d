import { expect, test } from "vitest";
import type { Command } from "#web/app/commands.ts";
import { parseKeys } from "./keys.ts";
import {
  type Begun,
  bindKeys,
  NOTHING_BEGUN,
  type Place,
  pressKey,
  SEQUENCE_MS,
} from "./shortcuts.ts";

function command(id: string, keys?: string): Command {
  return { id, title: id, group: "", keys, run: () => undefined };
}

interface Step {
  readonly keys: string;
  readonly at?: number;
  readonly place?: Place;
}

/** Presses one after the other; which commands ran, and which presses were taken. */
function type(commands: readonly Command[], steps: readonly Step[]) {
  const bound = bindKeys(commands, false);
  let begun: Begun = NOTHING_BEGUN;
  const ran: string[] = [];
  const taken: boolean[] = [];
  for (const { keys, at = 0, place = "page" } of steps) {
    const [chord] = parseKeys(keys, false);
    if (chord === undefined) throw new Error("no key");
    const pressed = pressKey(begun, { chord, isShifted: keys.includes("Shift"), place, at }, bound);
    begun = pressed.begun;
    taken.push(pressed.isTaken);
    if (pressed.command !== undefined) ran.push(pressed.command.id);
  }
  return { ran, taken };
}

const all = [
  command("palette", "Ctrl+K"),
  command("anywhere", "Ctrl+Shift+P"),
  command("mac", "Meta+K"),
  command("search", "/"),
  command("sessions", "g s"),
  command("health", "g h"),
  command("none"),
];

test("a key runs its command and is taken", () => {
  expect(type(all, [{ keys: "/" }])).toEqual({ ran: ["search"], taken: [true] });
});

test("a press that means nothing is left alone", () => {
  expect(type(all, [{ keys: "x" }])).toEqual({ ran: [], taken: [false] });
});

test("a sequence runs with its last press, and all of it is taken", () => {
  const steps = [{ keys: "g" }, { keys: "h", at: 500 }];
  expect(type(all, steps)).toEqual({ ran: ["health"], taken: [true, true] });
});

test("a sequence waits only so long", () => {
  const late = [{ keys: "g" }, { keys: "h", at: SEQUENCE_MS + 1 }];
  expect(type(all, late)).toEqual({ ran: [], taken: [true, false] });
  const inTime = [{ keys: "g" }, { keys: "h", at: SEQUENCE_MS }];
  expect(type(all, inTime).ran).toEqual(["health"]);
});

test("a press that does not go on is looked at by itself", () => {
  expect(type(all, [{ keys: "g" }, { keys: "/" }]).ran).toEqual(["search"]);
  expect(type(all, [{ keys: "g" }, { keys: "g" }, { keys: "s" }]).ran).toEqual(["sessions"]);
  expect(type(all, [{ keys: "g" }, { keys: "x" }, { keys: "s" }]).ran).toEqual([]);
});

test("in a field only what has a modifier is ours", () => {
  const place = "text";
  expect(type(all, [{ keys: "/", place }])).toEqual({ ran: [], taken: [false] });
  expect(type(all, [{ keys: "Ctrl+K", place }]).ran).toEqual(["palette"]);
});

test("in a terminal only Shift with a modifier, and ⌘, are ours", () => {
  const place = "terminal";
  expect(type(all, [{ keys: "/", place }]).taken).toEqual([false]);
  expect(type(all, [{ keys: "Ctrl+K", place }]).taken).toEqual([false]);
  expect(type(all, [{ keys: "Ctrl+Shift+P", place }]).ran).toEqual(["anywhere"]);
  expect(type(all, [{ keys: "Meta+K", place }]).ran).toEqual(["mac"]);
});

test("a shifted letter in a terminal is typed", () => {
  const commands = [command("shout", "Shift+G")];
  expect(type(commands, [{ keys: "Shift+G", place: "terminal" }]).taken).toEqual([false]);
});

test("typing elsewhere ends a sequence", () => {
  const steps: Step[] = [{ keys: "g" }, { keys: "s", place: "text" }, { keys: "s" }];
  expect(type(all, steps).ran).toEqual([]);
});

test("of two commands with the same keys the later one runs", () => {
  expect(type([...all, command("mine", "/")], [{ keys: "/" }]).ran).toEqual(["mine"]);
});
