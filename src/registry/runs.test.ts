import fc from "fast-check";
import { expect, test } from "vitest";
import type { Session } from "#contract/session.ts";
import { RECORD_VERSION, type RunRecord } from "./run-record.ts";
import { findByAddress, joinRuns } from "./runs.ts";
import { normalizeAddress, parseTarget } from "./target-word.ts";

const letters = fc.constantFrom("a", "b", "c", "d", "e");
const idOf = (letter: string) => `ses_${letter.repeat(16)}`;

const sessions = fc.uniqueArray(
  fc.record({ letter: letters, at: fc.integer({ min: 0, max: 3 }), isLive: fc.boolean() }),
  { selector: ({ letter }) => letter },
);
const records = fc.array(fc.record({ letter: letters, port: fc.integer({ min: 1, max: 9 }) }));

function createSession({ letter, at, isLive }: { letter: string; at: number; isLive: boolean }) {
  // Only what a join looks at.
  return {
    session_id: idOf(letter),
    created_at: new Date(at).toISOString(),
    state: { kind: isLive ? "running" : "exited" },
  } as Session;
}

function createRecord({ letter, port }: { letter: string; port: number }): RunRecord {
  return {
    ...{ version: RECORD_VERSION, session_id: idOf(letter), pid: null, start_time: null },
    ...{ kind: "command", started_at: new Date(port).toISOString(), work_dir: "/" },
    address: `http://127.0.0.1:${port}`,
    server: { pid: port, start_time: 0, boot_id: "" },
  };
}

test("whatever the records say, the runs are the host's sessions, the newest first", () => {
  fc.assert(
    fc.property(sessions, records, (given, written) => {
      const all = given.map(createSession);
      const runs = joinRuns(all, written.map(createRecord));
      expect(new Set(runs.map(({ session }) => session))).toEqual(new Set(all));
      const places = runs.map(({ session }) => `${session.created_at} ${session.session_id}`);
      expect(places).toEqual(places.toSorted().toReversed());
      for (const { session, address } of runs) {
        const first = written.find(({ letter }) => idOf(letter) === session.session_id);
        const expected = session.state.kind === "running" ? first : undefined;
        expect(address).toBe(expected === undefined ? null : `http://127.0.0.1:${expected.port}`);
      }
    }),
  );
});

test("a word is of one kind, whatever stands around it", () => {
  const space = fc.stringMatching(/^[ \t\n]*$/);
  fc.assert(
    fc.property(fc.string(), space, space, (word, before, after) => {
      expect(parseTarget(`${before}${word}${after}`)).toEqual(parseTarget(word));
    }),
  );
  fc.assert(
    fc.property(fc.nat(), (pid) => {
      expect(parseTarget(String(pid))).toEqual({ kind: "pid", pid });
    }),
  );
});

test.each([
  [undefined, { kind: "latest" }],
  ["", { kind: "latest" }],
  [" \n", { kind: "latest" }],
  [" latest ", { kind: "latest" }],
  ["LATEST", { kind: "id", part: "LATEST" }],
  ["12", { kind: "pid", pid: 12 }],
  ["-1", { kind: "pid", pid: -1 }],
  ["12a", { kind: "id", part: "12a" }],
  ["1.5", { kind: "id", part: "1.5" }],
  ["http://h:1//", { kind: "address", address: "http://h:1" }],
  ["HTTPS://H/", { kind: "address", address: "https://h" }],
  ["http://h:1/below/", { kind: "address", address: "http://h:1/below" }],
  ["http://", { kind: "address", address: "http:" }],
  ["unix:/run/a.sock", { kind: "address", address: "unix:/run/a.sock" }],
  ["httpd", { kind: "id", part: "httpd" }],
])("the word %j is %j", (word, target) => {
  expect(parseTarget(word)).toEqual(target);
});

test("an address is found with and without its last slash, and no other is", () => {
  const written = [createRecord({ letter: "a", port: 1 }), createRecord({ letter: "b", port: 2 })];
  for (const end of ["", "/", "//"])
    expect(findByAddress(written, `http://127.0.0.1:2${end}`)).toBe(written[1]);
  for (const other of ["http://127.0.0.1:22", "https://127.0.0.1:2", "http://127.0.0.1"])
    expect(findByAddress(written, other)).toBeUndefined();
  fc.assert(
    fc.property(fc.webUrl(), (url) => {
      expect(normalizeAddress(normalizeAddress(url))).toBe(normalizeAddress(url));
    }),
  );
});
