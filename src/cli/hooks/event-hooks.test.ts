import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import type { AnyEvent } from "#contract/operations/agent.ts";
import type { Session } from "#contract/session.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { type HookedRun, type HookPorts, openEventHooks } from "./event-hooks.ts";

const { createRunCommand } = await import("#agent/hooks/run-command.ts");

const session_id = "ses_0000000000000000" as Session["session_id"];

/** Events that grow, read as a session's are. An event's id is its number, from 1. */
class Log {
  readonly #events: AnyEvent[] = [];
  fault: Fault | undefined;
  isOver = false;

  add(...types: readonly string[]): void {
    // As much of an event as a hook looks at.
    for (const type of types)
      this.#events.push({ type, number: this.#events.length + 1 } as unknown as AnyEvent);
  }

  async *#read(input: { since?: unknown; follow?: boolean }, signal: AbortSignal | undefined) {
    for (let next = Number(input.since ?? 0); ; ) {
      if (this.fault !== undefined) throw this.fault;
      const data = this.#events[next];
      if (data !== undefined) {
        next += 1;
        yield { id: next, data };
        continue;
      }
      if (input.follow === false || this.isOver) return;
      await waitFor("more", () => signal?.aborted || this.#events.length > next || this.isOver);
      signal?.throwIfAborted();
    }
  }

  /** Only what a hook asks of a client. */
  get client(): HookedRun["client"] {
    const state = () => (this.isOver ? { kind: "exited" } : { kind: "running" });
    const client = {
      call: async () => ({ session_id, kind: "command", state: state() }),
      stream: (_name: string, input: object, asking?: { signal?: AbortSignal }) =>
        this.#read(input, asking?.signal),
    };
    return client as unknown as HookedRun["client"];
  }
}

interface Setting extends Disposable {
  readonly log: Log;
  readonly path: string;
  readonly said: string[];
  open(hooks: readonly string[], more?: Partial<HookPorts>, since?: number): AsyncDisposable;
  lines(file: string): string[];
}

function openSetting(): Setting {
  const folder = openTempDir();
  const log = new Log();
  const said: string[] = [];
  const ports: HookPorts = {
    ...{ runCommand: createRunCommand({ clock: systemClock }), clock: systemClock },
    ...{ shell: "/bin/sh", cwd: folder.path, env: { PATH: process.env.PATH ?? "" } },
    say: (sentence) => said.push(sentence),
  };
  return {
    ...{ log, said, path: folder.path },
    open: (hooks, more = {}, since = 0) => {
      const parsed = hooks.map((word) => {
        const [type = "", ...command] = word.split("=");
        return { type, command: command.join("=") };
      });
      return openEventHooks(
        parsed,
        { client: log.client, session_id, since },
        { ...ports, ...more },
      );
    },
    lines: (file) => {
      const whole = join(folder.path, file);
      return existsSync(whole) ? readFileSync(whole, "utf8").split("\n").slice(0, -1) : [];
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const many = (count: number) => Array.from({ length: count }, () => "tick");
const numbers = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).number);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("event hooks", () => {
  test("hear the events of their type, or all, each once and in their order", async () => {
    using setting = openSetting();
    const { log, lines } = setting;
    log.add("a", "b");
    {
      await using _hooks = setting.open(["*=cat >> all", "b=cat >> b", "c=cat >> c"]);
      log.add("b", "a", "b");
      await waitFor("some are told", () => lines("all").length >= 3);
      log.add("a");
    }
    expect(numbers(lines("all"))).toEqual(upTo(6));
    expect(numbers(lines("b"))).toEqual([2, 3, 5]);
    expect(lines("c")).toEqual([]);
    expect(lines("b")[0]).toBe('{"type":"b","number":2}');
    expect(setting.said).toEqual([]);
  });

  test("hear nothing from before their place", async () => {
    using setting = openSetting();
    setting.log.add("a", "a");
    {
      await using _hooks = setting.open(["*=cat >> all"], {}, 1);
    }
    expect(numbers(setting.lines("all"))).toEqual([2]);
  });

  test("the order of one hook is kept though its first command is the slowest", async () => {
    using setting = openSetting();
    setting.log.add(...many(5));
    const slow = "*=read -r event; mkdir first 2>/dev/null && sleep 0.3; echo $event >> all";
    {
      await using _hooks = setting.open([slow]);
    }
    expect(numbers(setting.lines("all"))).toEqual(upTo(5));
  });

  test("a slow hook holds no other back, and whoever adds events waits for none", async () => {
    using setting = openSetting();
    const { log, lines } = setting;
    {
      await using _hooks = setting.open(["*=sleep 600", "*=cat >> all"], { flushMs: 1 });
      log.add(...many(20));
      await waitFor("the other one has heard all", () => lines("all").length === 20);
    }
    expect(setting.said).toEqual([expect.stringContaining("no time left")]);
  });

  test("at most four commands run at once", async () => {
    using setting = openSetting();
    let running = 0;
    let most = 0;
    const real = createRunCommand({ clock: systemClock });
    const runCommand: HookPorts["runCommand"] = async (command, options) => {
      running += 1;
      most = Math.max(most, running);
      try {
        return await real(command, options);
      } finally {
        running -= 1;
      }
    };
    setting.log.add("a", "a");
    const hooks = Array.from({ length: 10 }, () => "*=sleep 0.05; cat >> all");
    {
      await using _hooks = setting.open(hooks, { runCommand });
    }
    expect(most).toBe(4);
    expect(setting.lines("all")).toHaveLength(20);
  });

  test("a command that takes too long is ended with all that it started, and the next event is told", async () => {
    using setting = openSetting();
    const mark = `60${process.pid}`;
    setting.log.add("a", "a");
    {
      const command = `*=cat >> all; sleep ${mark} & sleep ${mark}`;
      await using _hooks = setting.open([command], { commandMs: 200 });
      await waitFor("both are told", () => setting.said.length === 2);
    }
    expect(numbers(setting.lines("all"))).toEqual([1, 2]);
    expect(setting.said[0]).toContain("took longer than 0.2 s");
    await waitFor("nobody sleeps", () => findProcesses(`sleep ${mark}`).length === 0);
  });

  test("a failure is told with at most 4 KiB of what was printed, without control characters", async () => {
    using setting = openSetting();
    setting.log.add("a");
    {
      const much = "head -c 100000 /dev/zero | tr '\\0' x";
      await using _hooks = setting.open([`*=printf '\\033[2J\\n'; ${much}; ${much} >&2; exit 3`]);
    }
    const [said = ""] = setting.said;
    expect(said).toContain("a: the command ended with 3: x");
    expect(said.length).toBeGreaterThan(4000);
    expect(said.length).toBeLessThan(4096 + 300);
    expect(said).not.toMatch(/\p{Cc}/u);
  });

  test("a hook that always fails says so twenty times and is still told everything", async () => {
    using setting = openSetting();
    setting.log.add(...many(25));
    {
      await using _hooks = setting.open(["*=cat >> all; exit 1"]);
    }
    expect(setting.said).toHaveLength(20);
    expect(setting.said.at(-1)).toContain("more of its failures are not told");
    expect(setting.lines("all")).toHaveLength(25);
  });

  test("a command that does not read its stdin is no failure, and one that cannot be started is", async () => {
    using setting = openSetting();
    setting.log.add("a");
    {
      await using _hooks = setting.open(["*=true"]);
    }
    expect(setting.said).toEqual([]);
    {
      await using _hooks = setting.open(["*=true"], { shell: "/nonexistent/shell" });
    }
    expect(setting.said).toEqual([expect.stringContaining("/nonexistent/shell")]);
  });

  test("the last event is told at the end; what there is no time for is said, and its command is ended", async () => {
    using setting = openSetting();
    const mark = `61${process.pid}`;
    const hooks = setting.open([`*=cat >> all; sleep ${mark}`], { flushMs: 100 });
    setting.log.add("a", "a");
    await waitFor("the first is told", () => setting.lines("all").length === 1);
    await hooks[Symbol.asyncDispose]();
    expect(numbers(setting.lines("all"))).toEqual([1]);
    expect(setting.said).toEqual([expect.stringContaining("no time left")]);
    await waitFor("nobody sleeps", () => findProcesses(`sleep ${mark}`).length === 0);
  });

  test("a stream that breaks is said for each hook", async () => {
    using setting = openSetting();
    setting.log.fault = new Fault("session_not_found", "the session is gone");
    {
      await using _hooks = setting.open(["*=true", "a=true"]);
      await waitFor("both say so", () => setting.said.length === 2);
    }
    expect(setting.said[0]).toBe("--on-event *=true: the session is gone");
  });

  test("a session that has ended ends its hooks", async () => {
    using setting = openSetting();
    setting.log.add("a");
    setting.log.isOver = true;
    {
      await using _hooks = setting.open(["*=cat >> all"]);
      await waitFor("it is told", () => setting.lines("all").length === 1);
    }
    expect(numbers(setting.lines("all"))).toEqual([1]);
  });
});
