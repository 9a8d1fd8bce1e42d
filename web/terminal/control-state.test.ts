import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ControlEvent,
  type ControlState,
  changeControl,
  createControlState,
  describeControl,
  sayTaken,
} from "./control-state.ts";

const ann = { name: "ann", mayControl: true };

test("nobody types before the server has said so", () => {
  expect(describeControl(createControlState(null), ann)).toMatchObject({
    canType: false,
    action: undefined,
  });
});

test("who was given control types and may let go", () => {
  const state = after({ type: "connected", role: "controller" });
  expect(describeControl(state, ann)).toEqual({
    canType: true,
    action: "release",
    says: "You have control",
  });
});

test("a viewer is told who holds the reins, and may take them", () => {
  const state = after({ type: "connected", role: "viewer" }, { type: "control", holder: "bob#7" });
  expect(describeControl(state, ann)).toEqual({
    canType: false,
    action: "take",
    says: "bob has control",
  });
  const free = changeControl(state, { type: "control", holder: null });
  expect(describeControl(free, ann).says).toBe("No one has control");
});

test("whose role is too small is offered nothing", () => {
  const state = after({ type: "connected", role: "viewer" });
  expect(describeControl(state, { name: "eve", mayControl: false })).toEqual({
    canType: false,
    action: undefined,
    says: "View only",
  });
});

test("who has the same name in another window is not somebody else", () => {
  const state = after({ type: "connected", role: "viewer" }, { type: "control", holder: "ann#2" });
  expect(describeControl(state, ann).says).toBe("Your other window has control");
  expect(sayTaken("ann#12", ann)).toBe("You took control in another window");
  expect(sayTaken("bob", ann)).toBe("bob took control");
});

test("taken over names the last holder that was told, until they are taken back", () => {
  const state = after(
    { type: "connected", role: "controller" },
    { type: "control", holder: "bob" },
    { type: "taken_over" },
    { type: "connected", role: "viewer" },
  );
  expect(state).toMatchObject({ role: "viewer", takenBy: "bob" });
  expect(changeControl(state, { type: "took" })).toMatchObject({
    role: "controller",
    takenBy: undefined,
  });
  expect(changeControl(state, { type: "dismissed", what: "taken" }).takenBy).toBe(undefined);
});

test("taken by nobody knows whom is still said", () => {
  const state = after({ type: "connected", role: "controller" }, { type: "taken_over" });
  expect(state.takenBy).toBe("another client");
});

test("the holder that is named later takes the place of an unnamed one", () => {
  const state = after(
    { type: "connected", role: "controller" },
    { type: "taken_over" },
    { type: "restored", role: "viewer" },
    { type: "control", holder: "bob#3" },
  );
  expect(state).toMatchObject({ role: "viewer", takenBy: "bob#3", holder: "bob#3" });
});

test("a lease that ran out leaves a viewer", () => {
  const state = after(
    { type: "connected", role: "controller" },
    { type: "control", holder: "ann" },
    { type: "control", holder: null },
  );
  expect(state).toMatchObject({ role: "viewer", holder: null, takenBy: undefined });
});

test("a cut keeps the reins, unless they are gone when it comes back", () => {
  const cut = after(
    { type: "connected", role: "controller" },
    { type: "control", holder: "bob" },
    { type: "lost" },
  );
  expect(describeControl(cut, ann).canType).toBe(true);
  expect(
    changeControl(cut, { type: "restored", role: "controller", isNoticed: true }),
  ).toMatchObject({
    role: "controller",
    isBack: true,
    takenBy: undefined,
  });
  expect(changeControl(cut, { type: "restored", role: "controller" }).isBack).toBe(false);
  expect(changeControl(cut, { type: "restored", role: "viewer" }).takenBy).toBe("bob");
});

test("a viewer's cut takes nothing from anybody", () => {
  const state = after(
    { type: "connected", role: "viewer" },
    { type: "lost" },
    { type: "restored", role: "viewer" },
  );
  expect(state.takenBy).toBe(undefined);
});

test("typing in vain is said once, and not to who holds the reins", () => {
  const typed = { type: "typed_in_vain" } as const;
  const state = after({ type: "connected", role: "viewer" }, typed);
  expect(state.hint).toBe("shown");
  const said = changeControl(state, { type: "dismissed", what: "hint" });
  expect(changeControl(said, typed).hint).toBe("said");
  expect(after({ type: "connected", role: "controller" }, typed).hint).toBe("unsaid");
});

test("the end is the end, whatever follows it", () => {
  const exit = { type: "exit", exit_code: 3, signal: null, reason: "exited" } as const;
  const state = after({ type: "connected", role: "controller" }, exit, { type: "took" });
  expect(state).toMatchObject({
    connection: "over",
    role: "viewer",
    exit: { exit_code: 3, signal: null, reason: "exited" },
  });
  expect(describeControl(state, ann)).toMatchObject({ canType: false, action: undefined });
});

test("a failure is said, and another try begins anew", () => {
  const failed = after({ type: "failed", sentence: "No." });
  expect(failed).toMatchObject({ connection: "over", failure: "No." });
  expect(changeControl(failed, { type: "opened_again" })).toEqual(createControlState(null));
});

test("whatever happens, only a controller that is not over types", () => {
  const event: fc.Arbitrary<ControlEvent> = fc.oneof(
    fc.record({
      type: fc.constantFrom("connected" as const, "restored" as const),
      role: fc.constantFrom("viewer" as const, "controller" as const),
    }),
    fc.record({
      type: fc.constant("control" as const),
      holder: fc.constantFrom(null, "ann", "bob"),
    }),
    fc.constantFrom(
      ...(["lost", "took", "released", "refused", "taken_over", "typed_in_vain"] as const).map(
        (type) => ({ type }),
      ),
    ),
    fc.constant({ type: "exit", exit_code: 0, signal: null, reason: "exited" } as const),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const state = after(...events);
      const { canType, action } = describeControl(state, ann);
      const isOpen = state.connection === "live" || state.connection === "lost";
      expect(canType).toBe(isOpen && state.role === "controller");
      expect(action === "release").toBe(canType);
      if (canType) expect(state.takenBy).toBe(undefined);
    }),
  );
});

function after(...events: readonly ControlEvent[]): ControlState {
  return events.reduce(changeControl, createControlState(null));
}
