import { Fault } from "#contract/fault.ts";
import type { OperationCalls } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { dependsOnModes, encodeLine, type Modes, PLAIN, type Typed } from "./line-parts.ts";
import { encodeTyped } from "./typed-text.ts";
import { checkLength, type Part, typeBy } from "./typing.ts";

interface ClientTyping extends Typed {
  /** As the bytes are, without a look at what the program knows. */
  readonly isRaw?: boolean | undefined;
  /** Input that is sent twice under this id is applied once. */
  readonly input_id?: string | undefined;
  readonly takeover?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Typist = Pick<OperationCalls, "call">;
type Typable = Pick<Session, "session_id" | "mode">;

/** Types into a terminal or a command, here or behind a server. */
export async function typeInto(
  client: Typist,
  session: Typable,
  { input_id, takeover, signal, ...typed }: ClientTyping,
): Promise<void> {
  const { session_id } = session;
  const asking = { signal };
  const parts = await findParts(client, session, { ...typed, signal });
  checkLength(parts);
  await typeBy(
    {
      tail: async () => (await client.call("session.get", { session_id }, asking)).tail,
      input: (data, index) => {
        const id = input_id === undefined || index === 0 ? input_id : `${input_id}/${index}`;
        const more = takeover === true ? { takeover } : {};
        return client.call("session.input", { session_id, data, input_id: id, ...more }, asking);
      },
      // Silence that lasts as long as the wait: nothing else ends it sooner.
      pause: (ms) => wait(client, { session_id, for: "idle", idle_ms: ms, timeout_ms: ms }, signal),
      settle: async (tail, { longestMs, quietMs }) => {
        const heard = { session_id, for: "output", since: tail, timeout_ms: longestMs } as const;
        if ((await wait(client, heard, signal)).matched)
          await wait(
            client,
            { session_id, for: "idle", idle_ms: quietMs, timeout_ms: longestMs },
            signal,
          );
      },
      signal,
    },
    parts,
  );
}

function wait(
  client: Typist,
  input: Parameters<typeof client.call<"session.wait">>[1],
  signal: AbortSignal | undefined,
) {
  return client.call("session.wait", input, { signal });
}

async function findParts(client: Typist, session: Typable, typed: ClientTyping): Promise<Part[]> {
  const { text, keys, enter, isRaw = false } = typed;
  if (session.mode === "pipe") return pipeParts(typed);
  if (isRaw && keys.length === 0)
    return text === "" && !enter
      ? []
      : [{ kind: "text", bytes: encodeTyped(enter ? `${text}\n` : text) }];
  const encode = (modes: Modes) =>
    encodeLine({ text, keys, enter }, isRaw ? { ...modes, bracketed_paste: false } : modes);
  if (!dependsOnModes(encode)) return encode(PLAIN);
  const { session_id } = session;
  const screen = await client.call(
    "session.screen",
    { session_id, format: "text" },
    { signal: typed.signal },
  );
  return encode("modes" in screen ? screen.modes : PLAIN);
}

/** A program that reads from a pipe reads lines, and knows no keys. */
function pipeParts({ text, keys, enter }: ClientTyping): Part[] {
  if (keys.length > 0)
    throw new Fault(
      "unsupported",
      "keys need a terminal, and this session reads from a pipe; send text instead",
    );
  const bytes = enter ? `${text}\n` : text;
  return bytes === "" ? [] : [{ kind: "text", bytes }];
}
