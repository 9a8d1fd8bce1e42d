/**
 * The package reads its table through `buffer.buffer` from the first byte on, which is another's where Node has taken
 * the buffer out of its pool. So while it is loaded nothing is taken from there.
 */
const { poolSize } = Buffer;
Buffer.poolSize = 0;

export function restorePool(): void {
  Buffer.poolSize = poolSize;
}
