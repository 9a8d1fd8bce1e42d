/** The head and the tail of a text that is too long, at characters, with a mark of what is missing between them. */
export function cutText(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  const room = mostBytes - MARK_BYTES;
  const head = bytes.subarray(0, boundaryBefore(bytes, Math.floor(room / 2)));
  const tail = bytes.subarray(boundaryBefore(bytes, bytes.length - Math.ceil(room / 2) + 3));
  const missing = bytes.length - head.length - tail.length;
  return `${head.toString()}\n[… ${missing} bytes are left out …]\n${tail.toString()}`;
}

/** Room for the mark. */
const MARK_BYTES = 64;

/** Where the character at this byte begins. */
function boundaryBefore(bytes: Buffer, at: number): number {
  let start = Math.min(Math.max(at, 0), bytes.length);
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
