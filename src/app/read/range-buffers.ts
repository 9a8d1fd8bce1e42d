/** A fresh megabyte for every answer costs more than reading it: the kernel has to clear it and the collector to find it. */
const KEPT_BUFFERS = 16;
const BUFFER_BYTES = 1024 * 1024;

const free: Buffer<ArrayBuffer>[] = [];
const lent = new WeakMap<ArrayBufferLike, Buffer<ArrayBuffer>>();

/** Room for so many bytes; given back by `giveBack`, or left to the collector. */
export function borrow(size: number): Buffer<ArrayBuffer> {
  if (size > BUFFER_BYTES || size < BUFFER_BYTES / 4) return Buffer.allocUnsafe(size);
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  lent.set(buffer.buffer, buffer);
  return buffer.subarray(0, size);
}

/** Nobody looks at these bytes any more. Once is enough, and twice does no harm. */
export function giveBack({ buffer }: Uint8Array): void {
  const whole = lent.get(buffer);
  if (whole === undefined) return;
  lent.delete(buffer);
  if (free.length < KEPT_BUFFERS) free.push(whole);
}
