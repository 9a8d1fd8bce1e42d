import { join } from "node:path";
import { type DataDir, locateDataDir } from "#host/data-dir.ts";
import type { BoundEnvironment } from "#host/find-binding.ts";
import { type BlobFiles, createBlobFiles, nameBlob } from "#host/session/blob-files.ts";
import type { HostClient } from "#host/socket/client.ts";
import { openLogFiles } from "#log/log-files.ts";
import type { LogChunk } from "#log/log-source.ts";
import { readRange } from "#log/read-range.ts";
import { createSocketLog } from "./socket-log.ts";

export interface OwnSessionOptions {
  readonly dataDir: string;
  readonly session_id: string;
  readonly env: BoundEnvironment;
}

/**
 * The history and the blobs of the session that a worker runs in. The host reads and keeps them over the session's
 * connection; where the connection is not the session's, or the host is older, they are files.
 */
export interface OwnSession {
  readEvents(): AsyncGenerator<LogChunk, void, void>;
  /** Gives the name at once. `kept` resolves when all bytes are stored. */
  keepBlob(bytes: Uint8Array): string;
  findBlob(name: string): Promise<Buffer | undefined> | Buffer | undefined;
  /** Undefined when nothing is being stored. Rejects when something could not be stored. */
  readonly kept: Promise<unknown> | undefined;
}

const CHUNK_BYTES = 256 * 1024;

export async function openOwnSession(options: OwnSessionOptions): Promise<OwnSession> {
  const dir = locateDataDir(options.dataDir);
  using client = await connectAsSession(dir, options);
  if (client !== undefined) return createOverHost(dir, options);
  return createSessionFiles(options.dataDir, options.session_id);
}

/** A session's files, read by this process. */
export function createSessionFiles(
  dataDir: string,
  sessionId: string,
): OwnSession & { readonly findBlob: BlobFiles["find"] } {
  const folder = join(locateDataDir(dataDir).sessions, sessionId);
  const blobs = createBlobFiles(folder);
  return {
    readEvents: async function* () {
      using events = openLogFiles(join(folder, "events"));
      yield* readRange(events, 0, { to: events.tail(), limit: CHUNK_BYTES });
    },
    keepBlob: blobs.keep,
    findBlob: blobs.find,
    kept: undefined,
  };
}

/** A connection for each request: they are rare, and an idle worker should hold none. */
function createOverHost(dir: DataDir, options: OwnSessionOptions): OwnSession {
  const { session_id } = options;
  const connect = async () => {
    const client = await connectAsSession(dir, options);
    if (client !== undefined) return client;
    throw new Error("no host answers for this session");
  };
  const keeping = new Map<string, Promise<unknown>>();
  const keep = async (bytes: Uint8Array) => {
    using client = await connect();
    const data_b64 = Buffer.from(bytes).toString("base64");
    await client.call("session.keep_blob", { session_id, data_b64 });
  };
  return {
    readEvents: async function* () {
      using client = await connect();
      const events = createSocketLog(client, { session_id, log: "events" });
      yield* readRange(events, 0, { to: await events.tail(), limit: CHUNK_BYTES });
    },
    keepBlob: (bytes) => {
      const name = nameBlob(bytes);
      const kept = keep(bytes).finally(() => keeping.delete(name));
      // Reported by those who wait for `kept`.
      kept.catch(() => undefined);
      keeping.set(name, kept);
      return name;
    },
    findBlob: async (name) => {
      await keeping.get(name)?.catch(() => undefined);
      using client = await connect();
      const { bytes } = await client.call("session.blob", { session_id, name });
      return bytes === undefined ? undefined : Buffer.from(bytes);
    },
    get kept() {
      return keeping.size === 0 ? undefined : Promise.all(keeping.values());
    },
  };
}

async function connectAsSession(
  dir: DataDir,
  { session_id, env }: OwnSessionOptions,
): Promise<HostClient | undefined> {
  if (env.REINS_BOUND_SESSION_ID !== session_id) return undefined;
  // Only a worker that has a connection of its own loads what connects.
  const { findHost } = await import("#host/socket/start-host.ts");
  const client = await findHost(dir, env);
  if (client === undefined || client.hello.features.includes("read")) return client;
  client[Symbol.dispose]();
  return undefined;
}
