import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { findMoment } from "./status-moment.ts";

const CREATED = "2026-01-01T10:00:00.000Z";
const STARTED = "2026-01-01T11:00:00.000Z";
const ASKED = "2026-01-01T11:30:00.000Z";
const EXITED = "2026-01-01T12:00:00.000Z";
const need = { id: "a", kind: "approval", summary: "May I?", since: ASKED } as const;
const exited = { kind: "exited", exit_code: 0, signal: null, reason: "exited" } as const;

function session(fields: object): Session {
  // Only what is looked at.
  return {
    ...{ kind: "agent", state: { kind: "running" }, turn: null, needs: [] },
    ...{ created_at: CREATED, exited_at: null, ...fields },
  } as unknown as Session;
}

test.each([
  ["working", { turn: { turn_id: "t", started_at: STARTED } }, { at: STARTED, word: "for" }],
  ["working", { turn: null }, undefined],
  ["working", { turn: { turn_id: "t", started_at: "" } }, undefined],
  ["needs_you", { needs: [{ ...need, since: EXITED }, need] }, { at: ASKED, word: "since" }],
  ["needs_you", { needs: [need], state: exited, exited_at: EXITED }, { at: ASKED, word: "since" }],
  ["sleeping", { state: exited, exited_at: EXITED }, { at: EXITED, word: "since" }],
  ["idle", {}, undefined],
  ["starting", {}, undefined],
  ["running", { kind: "command" }, { at: CREATED, word: "for" }],
  ["ended", { kind: "command", state: exited, exited_at: EXITED }, { at: EXITED, word: "at" }],
  [null, {}, undefined],
])("status %s with %o has the moment %o", (status, fields, moment) => {
  expect(findMoment(session({ status, ...fields }))).toEqual(moment);
});
