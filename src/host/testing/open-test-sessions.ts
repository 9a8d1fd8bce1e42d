import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { silentLogger } from "#base/logger.ts";
import { ManualClock } from "#base/manual-clock.ts";
import { HandedSession } from "#host/session/hand-over.ts";
import type { HostSession } from "#host/session/host-session.ts";
import type { CreateRequest } from "#host/sessions/create-request.ts";
import { Sessions, type SessionsDeps } from "#host/sessions/sessions.ts";
import { openLogFiles } from "#log/log-files.ts";
import { type FakeChild, FakeSpawner } from "#proc/testing/fake-child.ts";

export interface TestSessions extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly spawner: FakeSpawner;
  readonly sessions: Sessions;
  readonly folder: string;
  open(
    request?: Partial<CreateRequest>,
  ): Promise<{ readonly session: HostSession; readonly child: FakeChild }>;
  /** Another host on the same folder, as after the death of this one. */
  reopen(): Promise<{ readonly sessions: Sessions; readonly spawner: FakeSpawner }>;
  /** Another program in the place of this one, so long after; this one is not to be used any more. */
  succeed(passedMs?: number, prepare?: (spawner: FakeSpawner) => void): Promise<Successor>;
}

export interface Successor {
  readonly sessions: Sessions;
  readonly spawner: FakeSpawner;
  readonly clock: ManualClock;
}

/** Sessions over scripted children and a clock that stands still, on a real disk. */
export function openTestSessions(overrides: Partial<SessionsDeps> = {}): TestSessions {
  const temporary = mkdtempDisposableSync(join(tmpdir(), "reins-host-"));
  const clock = new ManualClock();
  const spawner = new FakeSpawner();
  const deps: SessionsDeps = {
    folder: temporary.path,
    clock,
    log: silentLogger,
    spawner,
    live_cap: 100,
    ...overrides,
  };
  const sessions = new Sessions(deps);
  const successors: Sessions[] = [];
  return {
    clock,
    spawner,
    sessions,
    folder: temporary.path,
    async open(request = {}) {
      const session = await sessions.create(createRequest(request));
      return { session, child: spawner.last };
    },
    async reopen() {
      const another = new FakeSpawner();
      const next = new Sessions({ ...deps, spawner: another });
      await next.recover();
      return { sessions: next, spawner: another };
    },
    async succeed(passedMs = 0, prepare = () => undefined) {
      // Through the file's own words.
      const handed = z.array(HandedSession).parse(JSON.parse(JSON.stringify(sessions.handOver())));
      const next = { spawner: new FakeSpawner(), clock: new ManualClock() };
      prepare(next.spawner);
      const successor = new Sessions({ ...deps, ...next });
      successor.adopt(handed, passedMs);
      await successor.recover();
      successors.push(successor);
      return { sessions: successor, ...next };
    },
    async [Symbol.asyncDispose]() {
      for (const successor of successors) await successor.shutdown();
      await sessions.shutdown();
      temporary.remove();
    },
  };
}

export function createRequest(request: Partial<CreateRequest> = {}): CreateRequest {
  return {
    kind: "terminal",
    argv: ["/bin/sh"],
    work_dir: "/",
    env: { PATH: "/usr/bin:/bin" },
    ...request,
  };
}

/** Everything that can be read of a session's output. */
export function readOutput(session: HostSession): string {
  using source = openLogFiles(join(session.dir, "output"));
  const chunks: Uint8Array[] = [];
  let cursor = source.first();
  for (
    let chunk = source.read(cursor, { limit: 65_536 });
    chunk !== undefined;
    chunk = source.read(cursor, { limit: 65_536 })
  ) {
    if (chunk.kind === "gap") cursor = chunk.to;
    else {
      chunks.push(Uint8Array.from(chunk.bytes));
      cursor = chunk.offset + chunk.bytes.length;
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The events of a session, in order. */
export function readEvents(session: HostSession): Record<string, unknown>[] {
  using source = openLogFiles(join(session.dir, "events"));
  let text = "";
  for (let cursor = 0; ; ) {
    const chunk = source.read(cursor, { limit: 1_000_000 });
    if (chunk === undefined) break;
    if (chunk.kind === "gap") throw new Error("events are never evicted");
    text += Buffer.from(chunk.bytes).toString("utf8");
    cursor = chunk.offset + chunk.bytes.length;
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
