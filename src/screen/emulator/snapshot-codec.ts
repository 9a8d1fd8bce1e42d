import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { BufferSnapshot, Snapshot } from "./snapshot.ts";

/** Raised with every change of a snapshot's shape, and of the emulator that it is taken from. */
export const SNAPSHOT_FORMAT = 3;
/** Format 2 has no links and no dropped string; otherwise it is the same. */
export const READABLE_FORMATS: readonly unknown[] = [2, SNAPSHOT_FORMAT];

/** Cells are mostly alike: at the lowest level a tenth is left already. */
const DEFLATE_LEVEL = 1;
/** Two buffers of the largest screen with all its scrollback are less. */
const INFLATED_BYTES = 64 * 1024 * 1024;

interface PackedBuffer extends Omit<BufferSnapshot, "cells"> {
  readonly cells: string;
}

/** As text: small enough to keep many, and the same in memory as on disk. */
export function packSnapshot(snapshot: Snapshot): string {
  const { normal, alternate, ...rest } = snapshot;
  return JSON.stringify({ ...rest, normal: packBuffer(normal), alternate: packBuffer(alternate) });
}

/** Throws when it is not what `packSnapshot` made. */
export function unpackSnapshot(packed: string): Snapshot {
  // In a readable format: callers compare it first.
  const { normal, alternate, ...rest } = JSON.parse(packed) as Omit<
    Snapshot,
    "normal" | "alternate"
  > & { readonly normal: PackedBuffer; readonly alternate: PackedBuffer };
  return { ...rest, normal: unpackBuffer(normal), alternate: unpackBuffer(alternate) };
}

function packBuffer({ cells, ...rest }: BufferSnapshot): PackedBuffer {
  const bytes = new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength);
  return { ...rest, cells: deflateRawSync(bytes, { level: DEFLATE_LEVEL }).toString("base64") };
}

function unpackBuffer({ cells, ...rest }: PackedBuffer): BufferSnapshot {
  const packed = Buffer.from(cells, "base64");
  const bytes = inflateRawSync(packed, { maxOutputLength: INFLATED_BYTES });
  const words = new Uint32Array(bytes.length / Uint32Array.BYTES_PER_ELEMENT);
  new Uint8Array(words.buffer).set(bytes);
  return { ...rest, cells: words };
}
