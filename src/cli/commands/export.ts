import { once } from "node:events";
import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { constants } from "node:os";
import { finished } from "node:stream/promises";
import { openTarget, printJson, type Target, targetOptions } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { openLeaving } from "#cli/proto/leaving.ts";
import { writeTo } from "#cli/terminal/output-writer.ts";
import { Fault } from "#contract/fault.ts";
import { ExportFormat } from "#contract/operations/reading.ts";
import type { Document, OperationInput } from "#contract/operations.ts";
import type { Session } from "#contract/session.ts";

type Format = NonNullable<OperationInput<"session.export">["format"]>;

const MIB = 1024 * 1024;
/** How much is written between two words about it. */
const PROGRESS_BYTES = 8 * MIB;

/** `reins export`: a session as a file that other programs can read. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    ...targetOptions,
    format: { type: "string", short: "f" },
    output: { type: "string", short: "o" },
  });
  const [word = values.to, ...rest] = positionals;
  refuseWords(rest);
  if (values.json === true && values.output === undefined)
    throw new Fault("invalid_request", "--json tells of a file; name one with -o FILE");
  const named = parseFormat(values.format);
  await using target = await openTarget({ ...values, to: word });
  const { session_id } = target.session;
  const format = named ?? chooseFormat(target.session);
  const { output: file } = values;
  if (file !== undefined) return await exportTo(target, { format, file, json: values.json });
  const { body } = await target.client.document("session.export", { session_id, format });
  for await (const chunk of withProgress(body)) await writeTo(process.stdout, chunk);
  return 0;
}

interface Export {
  readonly format: Format;
  readonly file: string;
  readonly json: boolean | undefined;
}

/** Whoever interrupts it finds no half of a file. */
async function exportTo({ client, session }: Target, wanted: Export): Promise<number> {
  const { session_id } = session;
  const { format, file } = wanted;
  using leaving = openLeaving();
  const { signal } = leaving;
  try {
    const asked = { session_id, format };
    const { body, media_type } = await client.document("session.export", asked, { signal });
    const bytes = await save(withProgress(body), file, signal);
    if (wanted.json === true) printJson({ session_id, format, media_type, file, bytes });
    notice(`${session_id} is in ${file}, ${bytes} bytes of ${format}`);
    return 0;
  } catch (error) {
    if (leaving.by === undefined) throw error;
    return 128 + constants.signals[leaving.by];
  }
}

function parseFormat(text: string | undefined): Format | undefined {
  if (text === undefined) return undefined;
  const format = ExportFormat.safeParse(text);
  if (format.success) return format.data;
  throw new Fault(
    "invalid_request",
    `--format: ${JSON.stringify(text)} is none of ${ExportFormat.options.join(", ")}`,
  );
}

/** What an agent prints is nothing: its words are in its transcript. */
function chooseFormat({ kind }: Session): Format {
  return kind === "agent" ? "markdown" : "text";
}

async function* withProgress(body: Document["body"]): AsyncGenerator<Buffer, void, void> {
  let size = 0;
  let next = PROGRESS_BYTES;
  for await (const piece of body) {
    const bytes = Buffer.from(piece);
    yield bytes;
    size += bytes.length;
    if (size < next) continue;
    next = size + PROGRESS_BYTES;
    notice(`${Math.floor(size / MIB)} MiB so far`);
  }
}

/** Under its name when it is whole: half a file looks like one. What is no plain file is written to as it is. */
export async function save(
  bytes: AsyncIterable<Buffer>,
  file: string,
  signal?: AbortSignal,
): Promise<number> {
  const there = statSync(file, { throwIfNoEntry: false });
  const isPlain = there === undefined || there.isFile();
  const path = isPlain ? `${file}.${process.pid}.part` : file;
  try {
    const size = await writeAll(bytes, path);
    // What was broken off may end as if it were whole.
    signal?.throwIfAborted();
    if (isPlain) renameSync(path, file);
    return size;
  } catch (error) {
    if (isPlain) rmSync(path, { force: true });
    throw isSystemError(error) ? cannotWrite(file, error) : error;
  }
}

async function writeAll(bytes: AsyncIterable<Buffer>, path: string): Promise<number> {
  const stream = createWriteStream(path);
  await once(stream, "open");
  const done = finished(stream);
  // It may break while the next piece is waited for; it is asked for below.
  done.catch(() => undefined);
  let size = 0;
  try {
    for await (const chunk of bytes) {
      size += chunk.length;
      if (stream.errored !== null) break;
      if (!stream.write(chunk)) await once(stream, "drain");
    }
    stream.end();
    await done;
    return size;
  } catch (error) {
    stream.destroy();
    await done.catch(() => undefined);
    throw error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

function cannotWrite(file: string, cause: NodeJS.ErrnoException): Fault {
  const code = cause.code === "ENOSPC" ? "disk_full" : "invalid_request";
  return new Fault(code, `${file} cannot be written: ${cause.message}`, { cause });
}
