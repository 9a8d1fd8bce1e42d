import fc from "fast-check";
import { expect, test } from "vitest";
import { isLive } from "#contract/ended.ts";
import type { SessionState } from "#contract/session-state.ts";
import { type Happening, transition } from "./transition.ts";

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.constant<Happening>({ kind: "spawned" }),
  fc.record({
    kind: fc.constant("exited" as const),
    exit_code: fc.nat(255),
    signal: fc.constantFrom(null, "SIGKILL"),
    reason: fc.constantFrom("exited" as const, "user_requested" as const),
    tail: fc.nat(),
  }),
  fc.constant<Happening>({
    kind: "survived",
    survivors: [{ pid: 2, uid: 0, command: "x", why: "y" }],
  }),
  fc.constant<Happening>({ kind: "output_ended" }),
  fc.constant<Happening>({ kind: "host_died" }),
);

test("exited and lost are final, and an exit is told once", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 12 }), (happenings) => {
      let state: SessionState = { kind: "starting" };
      for (const next of happenings) {
        const before: SessionState = state;
        state = transition(state, next);
        if (!isLive({ state: before })) expect(state.kind).toBe(before.kind);
        if (before.kind === "lost") expect(state).toEqual(before);
        if (before.kind === "exited" && state.kind === "exited") {
          const { final: _, survivors: __, ...same } = state;
          expect(before).toMatchObject(same);
          if (before.final) expect(state.final).toBe(true);
        }
      }
    }),
  );
});

test.each([
  [{ kind: "starting" }, { kind: "spawned" }, { kind: "running" }],
  [{ kind: "running" }, { kind: "host_died" }, { kind: "lost", reason: "host_lost" }],
  [{ kind: "starting" }, { kind: "host_died" }, { kind: "lost", reason: "host_lost" }],
  [{ kind: "running" }, { kind: "output_ended" }, { kind: "running" }],
  [{ kind: "running" }, { kind: "revived" }, { kind: "running" }],
  [{ kind: "lost", reason: "host_lost" }, { kind: "revived" }, { kind: "starting" }],
  [{ kind: "running" }, { kind: "closed", reason: "user_requested" }, { kind: "running" }],
  [
    { kind: "lost", reason: "host_lost" },
    { kind: "closed", reason: "user_requested", detail: "d" },
    { kind: "lost", reason: "user_requested", detail: "d" },
  ],
] as const)("%o and %o make %o", (state, next, expected) => {
  expect(transition(state, next)).toEqual(expected);
});
