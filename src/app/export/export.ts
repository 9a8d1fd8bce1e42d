import { AgentState } from "#agent/state/agent-state.ts";
import type { Caller } from "#app/caller.ts";
import { openVisible } from "#app/visible-session.ts";
import type { TranscriptMessage } from "#contract/agent/message.ts";
import { Fault } from "#contract/fault.ts";
import { AnyEvent } from "#contract/operations/agent.ts";
import type { OperationInput, Operations } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";
import { type LogLine, lines } from "#log/lines.ts";
import { readRange } from "#log/read-range.ts";
import { findFirstSize } from "#screen/first-size.ts";
import type { LogReader, SessionHandle, SessionHosts } from "#session/session-host.ts";
import { writeAsciicast } from "./export-asciicast.ts";
import { writeJson } from "./export-json.ts";
import { writeFacts, writeFenced, writeTranscript } from "./export-markdown.ts";
import { readPieces } from "./export-pieces.ts";
import { writeText } from "./export-text.ts";

interface ExportDeps {
  readonly hosts: SessionHosts;
}

type Format = NonNullable<OperationInput<"session.export">["format"]>;

/** A session as it was when the export was asked for. */
interface Snapshot {
  readonly session: Session;
  readonly tail: number;
  readonly eventsTail: number;
}

interface Form {
  readonly media_type: string;
  readonly ending: string;
  write(handle: SessionHandle, snapshot: Snapshot): AsyncIterable<string>;
}

const forms: Readonly<Record<Format, Form>> = {
  asciicast: { media_type: "application/x-asciicast", ending: "cast", write: recording },
  text: {
    media_type: "text/plain; charset=utf-8",
    ending: "txt",
    write: ({ output }, { tail }) => writeText(readPieces(output, tail)),
  },
  json: {
    media_type: "application/json",
    ending: "json",
    write: json,
  },
  markdown: { media_type: "text/markdown; charset=utf-8", ending: "md", write: markdown },
};

const CHUNK_BYTES = 64 * 1024;
const DEFAULT_SIZE = { cols: 80, rows: 24 };

/** Documents are read from the logs while they are sent, up to where the logs ended when they were asked for. */
export function createExportOperations(
  { hosts }: ExportDeps,
  caller: Caller,
): Pick<Operations, "session.export"> {
  return {
    "session.export": async ({ session_id, format = "text" }, { signal } = {}) => {
      const form = forms[format];
      const open = () => openVisible(hosts, caller, session_id);
      const snapshot = await takeSnapshot(open);
      if (format === "asciicast" && snapshot.session.kind === "agent")
        throw new Fault(
          "unsupported",
          `${session_id} is an agent and has no terminal to record; export it as json or markdown`,
        );
      return {
        media_type: form.media_type,
        file_name: `${session_id}.${form.ending}`,
        body: writeBody(open, (handle) => form.write(handle, snapshot), signal),
      };
    },
  };
}

async function takeSnapshot(open: () => Promise<SessionHandle>): Promise<Snapshot> {
  using handle = await open();
  return { session: handle.session, tail: handle.tail, eventsTail: handle.eventsTail };
}

/** Opened by the first who reads it: a body that nobody reads holds nothing. */
async function* writeBody(
  open: () => Promise<SessionHandle>,
  write: (handle: SessionHandle) => AsyncIterable<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, void> {
  using handle = await open();
  for await (const piece of write(handle)) {
    signal?.throwIfAborted();
    if (piece !== "") yield piece;
  }
}

async function* recording(
  { output, events }: SessionHandle,
  { session, tail }: Snapshot,
): AsyncGenerator<string, void, void> {
  const header = {
    // The session's own size is the newest.
    ...(findFirstSize(events) ?? DEFAULT_SIZE),
    epoch_ms: output.epoch() ?? Date.parse(session.created_at),
    title: session.title,
    isPipe: session.mode === "pipe",
  };
  yield* writeAsciicast(header, readPieces(output, tail));
}

async function* json(
  { output, events }: SessionHandle,
  { session, tail, eventsTail }: Snapshot,
): AsyncGenerator<string, void, void> {
  const transcript =
    session.kind === "agent" ? await readTranscript(events, session, eventsTail) : undefined;
  const lines = readEvents(events, eventsTail);
  yield* writeJson({ session, transcript, events: lines, output, to: tail });
}

async function* markdown(
  { output, events }: SessionHandle,
  { session, tail, eventsTail }: Snapshot,
): AsyncGenerator<string, void, void> {
  yield writeFacts(session);
  if (session.kind === "agent") {
    yield* writeTranscript(await readTranscript(events, session, eventsTail));
    return;
  }
  const text = () => writeText(readPieces(output, tail));
  yield* writeFenced(text(), text());
}

/** By the same fold that the agent itself goes on from. What an event ends is in it, so the pieces are not read. */
async function readTranscript(
  events: LogReader,
  { session_id, title }: Session,
  to: number,
): Promise<readonly TranscriptMessage[]> {
  const fold = new AgentState(session_id);
  for await (const line of readEvents(events, to)) {
    if (line.kind !== "line" || String(line.value.type).endsWith(".delta")) continue;
    const event = AnyEvent.safeParse(line.value);
    if (event.success) fold.apply(event.data);
  }
  return fold.transcript({ title, from: 0, limit: Number.MAX_SAFE_INTEGER }).messages;
}

function readEvents(events: LogReader, to: number): AsyncIterable<LogLine> {
  return lines(readRange(events, 0, { to, limit: CHUNK_BYTES }));
}
