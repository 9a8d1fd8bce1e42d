import { Fault } from "#contract/fault.ts";

/**
 * The index of one segment, little endian, `<start>.idx`:
 *
 *   header  magic (8) · version u16 · record bytes u16 · segment bytes u32 · start u64 · epoch u64 · reserved (16)
 *   record  offset u64 · time u48 · channel u8 · mark u8 · a u16 · b u16 · check u32
 *
 * A `data` or `lost` record is in force from its offset until the next of the two; of several at one offset the
 * last one counts. A `resize` (a = columns, b = rows) changes nothing about the bytes. Other marks are skipped.
 * Time is in ms since the epoch, which is wall time in ms; it only grows, also from one writer to the next.
 */
export const HEADER_BYTES = 48;
export const RECORD_BYTES = 24;
export const INDEX_VERSION = 1;

export const marks = { data: 0, lost: 1, resize: 2 } as const;

export interface IndexHeader {
  readonly segmentBytes: number;
  readonly start: number;
  readonly epoch: number;
}

export interface IndexRecord {
  readonly offset: number;
  readonly time: number;
  readonly channel: number;
  readonly mark: number;
  readonly a: number;
  readonly b: number;
}

const MAGIC = Buffer.from("REINSIDX", "latin1");
const U32 = 2 ** 32;
const CHECK_AT = 20;

export function encodeHeader(header: IndexHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt16LE(INDEX_VERSION, 8);
  bytes.writeUInt16LE(RECORD_BYTES, 10);
  bytes.writeUInt32LE(header.segmentBytes, 12);
  writeU64(bytes, header.start, 16);
  writeU64(bytes, header.epoch, 24);
  return bytes;
}

/** Undefined = torn: the writer died before the header was whole, so there is nothing in that segment. */
export function parseHeader(bytes: Buffer, path: string): IndexHeader | undefined {
  // A power cut can leave a file of the right size that holds only zeros.
  if (bytes.length < HEADER_BYTES || bytes.every((byte) => byte === 0)) return undefined;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw notAnIndex(path);
  const version = bytes.readUInt16LE(8);
  if (version !== INDEX_VERSION || bytes.readUInt16LE(10) !== RECORD_BYTES) {
    const message = `${path} has format ${version}, which this version of reins (format ${INDEX_VERSION}) cannot read; it was left as it is.`;
    throw new Fault("unsupported", message, { details: { version, supported: INDEX_VERSION } });
  }
  const segmentBytes = bytes.readUInt32LE(12);
  const start = readU64(bytes, 16);
  if (segmentBytes === 0 || start % segmentBytes !== 0) throw notAnIndex(path);
  return { segmentBytes, start, epoch: readU64(bytes, 24) };
}

function notAnIndex(path: string): Fault {
  return new Fault(
    "log_damaged",
    `${path} is damaged: it is not the index of a log. It was left as it is; restore it from a copy, or remove the session with ?purge=1.`,
    { details: { path } },
  );
}

export function encodeRecord(into: Buffer, record: IndexRecord): void {
  writeU64(into, record.offset, 0);
  into.writeUIntLE(record.time, 8, 6);
  into.writeUInt8(record.channel, 14);
  into.writeUInt8(record.mark, 15);
  into.writeUInt16LE(record.a, 16);
  into.writeUInt16LE(record.b, 18);
  into.writeUInt32LE(checkOf(into, 0), CHECK_AT);
}

/** Undefined = damaged, to be skipped. */
export function parseRecord(bytes: Buffer, at: number): IndexRecord | undefined {
  if (bytes.readUInt32LE(at + CHECK_AT) !== checkOf(bytes, at)) return undefined;
  return {
    offset: readU64(bytes, at),
    time: bytes.readUIntLE(at + 8, 6),
    channel: bytes.readUInt8(at + 14),
    mark: bytes.readUInt8(at + 15),
    a: bytes.readUInt16LE(at + 16),
    b: bytes.readUInt16LE(at + 18),
  };
}

/** Never 0 for a record of zeros, which is what a hole in a file reads as. */
function checkOf(bytes: Buffer, at: number): number {
  let sum = 0x811c9dc5;
  for (let word = at; word < at + CHECK_AT; word += 4) {
    sum = Math.imul(sum ^ bytes.readUInt32LE(word), 0x01000193);
    sum ^= sum >>> 15;
  }
  return sum >>> 0;
}

function writeU64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % U32, at);
  bytes.writeUInt32LE(Math.floor(value / U32), at + 4);
}

function readU64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * U32;
}
