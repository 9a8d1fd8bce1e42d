import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "#contract/fault.ts";
import type { CallName, OperationInput, OperationOutput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { defined } from "#contract/values/defined.ts";
import type { RunRecord } from "#registry/run-record.ts";
import { markNesting } from "./enclosing.ts";
import { type Finder, findSession, findTarget } from "./target.ts";

interface Given {
  /** The last part of its id; the rest are zeros. */
  readonly end: string;
  readonly pid?: number;
  readonly isLive?: boolean;
  readonly isChild?: boolean;
  readonly parent?: string;
  readonly kind?: Session["kind"];
  readonly name?: string;
}

const idOf = (end: string) => `ses_${end.padStart(16, "0")}`;

/** As a host answers; those that were given first are the newest. Pages are small, so that there are several. */
function createFinder(given: readonly Given[], address?: string): Finder {
  const sessions = given.map(createSession);
  const list = (input: OperationInput<"session.list">) => {
    const { state, kind, q = "", cursor = "0" } = input;
    const found = sessions.filter(
      (session) =>
        (state !== "live" || session.state.kind === "running") &&
        (kind === undefined || session.kind === kind) &&
        `${session.session_id} ${session.name}`.includes(q),
    );
    const end = Number(cursor) + 2;
    return {
      sessions: found.slice(Number(cursor), end),
      cursor: end < found.length ? String(end) : null,
    };
  };
  const get = ({ session_id }: OperationInput<"session.get">) => {
    const found = sessions.find((session) => session.session_id === session_id);
    if (found === undefined) throw new Fault("session_not_found", `there is no ${session_id}`);
    return found;
  };
  return {
    address,
    call: async <N extends CallName>(name: N, input: OperationInput<N>) => {
      // The name says which of the two it is.
      const answer = name === "session.list" ? list(input as object) : get(input as never);
      return answer as unknown as OperationOutput<N>;
    },
  };
}

function createSession(given: Given): Session {
  const { end, pid, isLive = true, isChild = false, kind } = given;
  const { parent = isChild ? "parent" : undefined } = given;
  // Only what a look for a target looks at.
  return {
    session_id: idOf(end),
    pid: pid ?? null,
    name: given.name ?? null,
    kind: kind ?? "command",
    state: isLive ? { kind: "running" } : { kind: "exited", reason: "exited", exit_code: 0 },
    parent_session_id: parent === undefined ? null : idOf(parent),
  } as Session;
}

function served(end: string, address: string): RunRecord {
  // Only what is looked at.
  return { session_id: idOf(end), address } as RunRecord;
}

async function find(given: readonly Given[], word: string | undefined): Promise<string> {
  return (await findTarget(createFinder(given), word, { records: () => [] })).session_id;
}

const MISS = { code: "run_not_found", message: expect.stringContaining("reins run -- COMMAND") };

describe("a target", () => {
  test("that is an exact name wins over a part of an id; a sleeping agent has a name, an ended command has none", async () => {
    const given: Given[] = [
      { end: "abc", pid: 1 },
      { end: "1", name: "abc" },
      { end: "2", name: "slept", kind: "agent", isLive: false },
      { end: "3", name: "ended", isLive: false },
      { end: "ended4" },
    ];
    expect(await find(given, "abc")).toBe(idOf("1"));
    expect(await find(given, "slept")).toBe(idOf("2"));
    expect(await find(given, "ended")).toBe(idOf("ended4"));
  });

  test("that is not said is the newest live run; what has ended and parts of runs are none", async () => {
    const given = [
      { end: "ended", isLive: false },
      { end: "child", isChild: true },
      { end: "newer" },
      { end: "older" },
    ];
    for (const word of [undefined, "", "  ", "latest", " latest\n"])
      expect(await find(given, word)).toBe(idOf("newer"));
    await expect(find(given.slice(0, 2), "")).rejects.toMatchObject(MISS);
    await expect(find([], "latest")).rejects.toMatchObject(MISS);
  });

  test("that is a number is exactly that pid, and never a part of an id", async () => {
    const given = [
      { end: "77", pid: 5 },
      { end: "b", pid: 77 },
      { end: "c", pid: 777 },
    ];
    expect(await find(given, " 77 ")).toBe(idOf("b"));
    expect(await find([{ end: "x", pid: 9, isChild: true }], "9")).toBe(idOf("x"));
    for (const word of ["7", "0", "-77", "00000000", "99999999999999999999"])
      await expect(find(given, word)).rejects.toMatchObject(MISS);
    await expect(find([{ end: "e", pid: 9, isLive: false }], "9")).rejects.toMatchObject(MISS);
  });

  test("that is an id is that session, alive or not, whoever it is a part of", async () => {
    const given = [{ end: "a", isLive: false }, { end: "b", isChild: true }, { end: "c" }];
    for (const { end } of given) expect(await find(given, ` ${idOf(end)} `)).toBe(idOf(end));
    await expect(find(given, idOf("d"))).rejects.toMatchObject(MISS);
  });

  test("that is a part of an id is the one live run that has it, else the one session", async () => {
    const given = [
      { end: "live1x" },
      { end: "live2x" },
      { end: "old1x", isLive: false },
      { end: "part1x", isChild: true },
      { end: "old3x", isLive: false },
    ];
    expect(await find(given, "live1")).toBe(idOf("live1x"));
    expect(await find(given, "old1")).toBe(idOf("old1x"));
    expect(await find(given, "part1")).toBe(idOf("part1x"));
    for (const word of ["nowhere", "live3", "http", "%", "ses_zz", "x".repeat(500)])
      await expect(find(given, word)).rejects.toMatchObject(MISS);
  });

  test("that fits several is said to, with their ids", async () => {
    const given = [{ end: "ab1" }, { end: "ab2" }, { end: "ab3", isLive: false }];
    await expect(find(given, "ab")).rejects.toMatchObject({
      code: "ambiguous_target",
      message: `"ab" could be ${idOf("ab1")}, ${idOf("ab2")}`,
      details: { sessions: [idOf("ab1"), idOf("ab2")] },
    });
    const many = Array.from({ length: 14 }, (_, at) => ({ end: `m${at}`, isLive: false }));
    await expect(find(many, "m")).rejects.toMatchObject({
      code: "ambiguous_target",
      message: expect.stringMatching(/ and 4 more$/),
    });
  });

  test("that is an address is the run that is served there, its last slash or not", async () => {
    const client = createFinder([{ end: "a" }, { end: "b" }, { end: "gone", isLive: false }]);
    const records = () => [
      served("a", "http://127.0.0.1:1"),
      served("b", "unix:/run/b.sock"),
      served("gone", "http://127.0.0.1:3"),
      served("unknown", "http://127.0.0.1:4"),
    ];
    const at = async (word: string) => (await findTarget(client, word, { records })).session_id;
    for (const word of ["http://127.0.0.1:1", "http://127.0.0.1:1/", " HTTP://127.0.0.1:1// "])
      expect(await at(word)).toBe(idOf("a"));
    expect(await at("unix:/run/b.sock")).toBe(idOf("b"));
    for (const port of [2, 3, 4])
      await expect(at(`http://127.0.0.1:${port}`)).rejects.toMatchObject(MISS);
    for (const word of ["http://", "https://127.0.0.1:1", "http://127.0.0.1:1/x", "unix:"])
      await expect(at(word)).rejects.toMatchObject(MISS);
  });

  test("that is the address of a server is its one run; several are ambiguous", async () => {
    const url = "http://127.0.0.1:7346";
    const parts = [
      { end: "x", isChild: true },
      { end: "y", isLive: false },
    ];
    const at = async (given: readonly Given[], word = `${url}/`) =>
      (await findTarget(createFinder(given, url), word)).session_id;
    expect(await at([{ end: "a" }, ...parts])).toBe(idOf("a"));
    await expect(at([{ end: "a" }, { end: "b" }])).rejects.toMatchObject({
      code: "ambiguous_target",
      details: { sessions: [idOf("a"), idOf("b")] },
    });
    await expect(at(parts)).rejects.toMatchObject(MISS);
    await expect(at([{ end: "a" }], "http://127.0.0.1:7347")).rejects.toMatchObject(MISS);
  });

  test("whose server does not answer is a miss that says so", async () => {
    const call = async () => {
      throw new Fault("host_unavailable", "no answer");
    };
    const client = { address: "http://127.0.0.1:1", call };
    await expect(findTarget(client, "http://127.0.0.1:1/")).rejects.toMatchObject({
      ...MISS,
      message: expect.stringContaining("nothing answers at http://127.0.0.1:1"),
    });
    // Not a miss: somebody else has to be asked first.
    await expect(findTarget(client, "latest")).rejects.toMatchObject({ code: "host_unavailable" });
  });
});

describe("a session to go on with", () => {
  const given: readonly Given[] = [
    { end: "n1", kind: "agent", isChild: true },
    { end: "n2", kind: "terminal" },
    { end: "n3", kind: "agent", isLive: false },
    { end: "n4", kind: "agent" },
  ];
  const at = async (word: string, kind?: Session["kind"]) =>
    (await findSession(createFinder(given), word, defined({ kind }))).session_id;

  test("is counted from the newest, ended ones included and parts of runs left out", async () => {
    expect(await at("-1")).toBe(idOf("n2"));
    expect(await at(" -3 ")).toBe(idOf("n4"));
    expect(await at("-1", "agent")).toBe(idOf("n3"));
    expect(await at("-2", "agent")).toBe(idOf("n4"));
    expect(await at("n4", "agent")).toBe(idOf("n4"));
  });

  test("that is not there is said to be not there", async () => {
    await expect(at("-0")).rejects.toMatchObject({ code: "invalid_request" });
    await expect(at("-99")).rejects.toMatchObject({
      ...MISS,
      message: expect.stringContaining("there are only 3"),
    });
    await expect(at("abc")).rejects.toMatchObject(MISS);
    await expect(findSession(createFinder([]), "-1")).rejects.toMatchObject({
      ...MISS,
      message: expect.stringContaining("there is none"),
    });
  });
});

test("every word finds a session that it names, or is refused as a miss or as ambiguous", async () => {
  const ends = fc.uniqueArray(fc.stringMatching(/^[a-c0-2]{1,3}$/), {
    maxLength: 8,
    selector: idOf,
  });
  const flags = fc.infiniteStream(fc.tuple(fc.boolean(), fc.boolean(), fc.nat({ max: 30 })));
  const words = fc.oneof(fc.stringMatching(/^[a-c0-2_]{0,4}$/), fc.string());
  await fc.assert(
    fc.asyncProperty(ends, flags, words, async (names, more, word) => {
      const given = names.map((end) => {
        const [isLive, isChild, pid] = more.next().value;
        return { end, isLive, isChild, pid };
      });
      const text = word.trim();
      const outcome = await find(given, word).catch((error: unknown) => error);
      if (typeof outcome !== "string") {
        expect(outcome).toBeInstanceOf(Fault);
        expect(["run_not_found", "ambiguous_target"]).toContain((outcome as Fault).code);
        return;
      }
      const found = given.find(({ end }) => idOf(end) === outcome);
      if (/^\d+$/.test(text)) expect(found).toMatchObject({ pid: Number(text), isLive: true });
      else if (text === "") expect(found).toMatchObject({ isLive: true, isChild: false });
      else expect(outcome).toContain(text);
    }),
  );
});

describe("inside a session", () => {
  const given = [
    { end: "inner", pid: 7, parent: "middle" },
    { end: "middle", parent: "agent" },
    { end: "agent" },
    { end: "shown" },
    { end: "other", pid: 8 },
  ];
  const env = { REINS_SESSION_ID: idOf("inner"), REINS_OUTER_SESSIONS: idOf("shown") };
  const follow = async (word?: string, client = createFinder(given)) =>
    (await findTarget(client, word, { records: () => [], isFollowed: true, env })).session_id;

  test("the newest run is another one than those that show what the command prints", async () => {
    expect(await follow()).toBe(idOf("other"));
    const none = findTarget(createFinder(given.slice(0, 4)), "latest", { env });
    await expect(none).rejects.toMatchObject({
      code: "run_not_found",
      message: expect.stringContaining(`nothing is running but ${idOf("inner")}`),
    });
  });

  test.each([
    ["the session itself", "inner"],
    ["its pid", "7"],
    ["the session that started it", "middle"],
    ["the agent that started that one", "agent"],
    ["the session in whose terminal it is shown", "shown"],
  ])("%s cannot be followed", async (_title, word) => {
    await expect(follow(word)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/^cannot show ses_0+\w+ here: .* name another session/),
    });
  });

  test("others can be followed, and its own session can be meant by what only looks", async () => {
    expect(await follow("other")).toBe(idOf("other"));
    const own = await findTarget(createFinder(given), "inner", { env });
    expect(own.session_id).toBe(idOf("inner"));
  });

  test("a place that does not know the session refuses it by its name alone", async () => {
    const elsewhere = createFinder([{ end: "shown" }, { end: "other" }], "http://there");
    expect(await follow(undefined, elsewhere)).toBe(idOf("other"));
    await expect(follow("shown", elsewhere)).rejects.toMatchObject({ code: "conflict" });
  });

  test("a run that is shown here is inside of this session, a detached one is not", () => {
    const shown: NodeJS.ProcessEnv = { ...env };
    markNesting(shown, { isShown: true });
    expect(shown.REINS_OUTER_SESSIONS).toBe(`${idOf("shown")}:${idOf("inner")}`);
    const detached: NodeJS.ProcessEnv = { ...env };
    markNesting(detached, { isShown: false });
    expect(detached.REINS_OUTER_SESSIONS).toBeUndefined();
    const outside: NodeJS.ProcessEnv = {};
    markNesting(outside, { isShown: true });
    expect(outside).toEqual({});
  });
});
