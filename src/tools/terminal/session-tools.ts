import type { Caller } from "#app/caller.ts";
import type { Patterns } from "#app/read/patterns.ts";
import { createWaitOperations, takeSlot } from "#app/read/wait.ts";
import { createSessionOperations, type SessionDeps } from "#app/session.ts";
import { openVisible } from "#app/visible-session.ts";
import type { Clock } from "#base/clock.ts";
import { isLive } from "#contract/ended.ts";
import { limits } from "#contract/limits.ts";
import type { ToolInput, Tools } from "#contract/tools/tools.ts";
import { defined } from "#contract/values/defined.ts";
import type { HostList } from "#host/socket/methods.ts";
import type { Screens } from "#screen/screens.ts";
import type { SessionHosts } from "#session/session-host.ts";
import { viewForModel } from "#tools/process/model-view.ts";
import { dependsOnModes, encodeLine, type Modes, PLAIN } from "./line-parts.ts";
import { wanted } from "./screen-wait.ts";
import { encodeTyped } from "./typed-text.ts";
import { checkLength, type Part, takeTurn, typeParts } from "./typing.ts";

type SessionTools = Pick<Tools, "session_list" | "session_read" | "session_send" | "session_wait">;

interface SessionToolDeps extends SessionDeps {
  readonly hosts: SessionHosts;
  readonly screens: Screens;
  readonly patterns: Patterns;
  readonly clock: Clock;
}

const SESSIONS_LISTED = 50;
const WAIT_LONGEST_MS = 30_000;
const IDLE_MS = 1000;

/** Every session that the caller may see, whoever opened it. */
export function createSessionTools(deps: SessionToolDeps, caller: Caller): SessionTools {
  const { hosts, clock } = deps;
  const operations = {
    ...createSessionOperations(deps, caller),
    ...createWaitOperations(deps, caller),
  };
  return {
    session_list: async ({ running = false, q, limit = SESSIONS_LISTED }) => {
      const [host] = hosts.all();
      const state = running ? { state: "live" as const } : {};
      const request = { ...state, q, limit, ...scopeOf(caller) };
      const { sessions, total = sessions.length } = await host.call("session.list", request);
      return { sessions: [...sessions], omitted: total - sessions.length };
    },
    session_read: async ({ session_id, since, max_bytes }) => {
      using handle = await openVisible(hosts, caller, session_id);
      // The state before the tail: what has ended is read to its end.
      const { state } = handle.session;
      const from = since ?? handle.output.first();
      const budget = max_bytes ?? limits.model_output_bytes;
      const range = { from, to: handle.tail, budget, isOpen: isLive({ state }) };
      const seen = viewForModel(handle.output, range);
      const omitted_bytes = seen.truncated?.omitted_bytes ?? 0;
      return { output: seen.text, offset: from, next_offset: seen.next, omitted_bytes, state };
    },
    session_send: async (input, { signal } = {}) => {
      using _slot = takeSlot(hosts);
      using handle = await openVisible(hosts, caller, input.session_id);
      const encode = (modes: Modes) => describeParts(input, handle.session.mode, modes);
      // Refused before anything is typed.
      checkLength(encode(PLAIN));
      const { takeover } = input;
      const typist = { handle, clock, input: operations["session.input"], takeover, signal };
      await takeTurn(handle, async () => {
        const modes = dependsOnModes(encode) ? (await deps.screens.text(handle)).modes : PLAIN;
        await typeParts(typist, encode(modes));
      });
      return { success: true, message: describeSent(encode(PLAIN)) };
    },
    session_wait: async (input, options) => {
      const { matched, offset, end, tail, state } = await operations["session.wait"](
        describeWait(input),
        options,
      );
      return { matched, offset, end, tail, state };
    },
  };
}

function scopeOf({ workspaces }: Caller): Pick<HostList, "any_label"> {
  return workspaces === "*" ? {} : { any_label: { name: "workspace_id", values: workspaces } };
}

/** On a terminal a line end is the Enter key; what reads from a pipe reads lines. */
function describeParts(
  { text, enter = false }: ToolInput<"session_send">,
  mode: "pty" | "pipe",
  modes: Modes,
): Part[] {
  if (mode === "pipe") {
    const bytes = enter ? `${text}\n` : text;
    return bytes === "" ? [] : [{ kind: "text", bytes }];
  }
  if (!enter) return text === "" ? [] : [{ kind: "text", bytes: encodeTyped(text) }];
  return encodeLine({ text, keys: ["enter"], enter: false }, modes);
}

function describeSent(parts: readonly Part[]): string {
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part.bytes), 0);
  return bytes === 0 ? "there was nothing to type" : `typed ${bytes} bytes`;
}

function describeWait({ session_id, since, timeout, idle, ...input }: ToolInput<"session_wait">) {
  if (input.for === "text") wanted(input.text, "text");
  if (input.for === "regex") wanted(input.pattern, "pattern");
  return {
    session_id,
    ...input,
    ...defined({ since }),
    idle_ms: Math.min(Math.max(idle ?? IDLE_MS, 1), limits.wait_longest_ms),
    timeout_ms: Math.min(timeout ?? WAIT_LONGEST_MS, limits.wait_longest_ms),
  };
}
