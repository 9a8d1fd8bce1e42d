/** Raw mode for the length of a scope; put back on every way out that a process has. */
export function openRawMode(undo: () => string): Disposable {
  const { stdin, stdout } = process;
  let isRaw = true;
  stdin.setRawMode(true);
  const restore = () => {
    if (!isRaw) return;
    isRaw = false;
    process.off("exit", restore);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(undo());
  };
  // `exit` also covers an error that nobody caught; signals are the caller's to turn into an orderly end.
  process.on("exit", restore);
  return { [Symbol.dispose]: restore };
}

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export function onResize(listener: (size: Size) => void): Disposable {
  const changed = () => listener(currentSize());
  process.stdout.on("resize", changed);
  return { [Symbol.dispose]: () => void process.stdout.off("resize", changed) };
}

export function currentSize(): Size {
  const { columns, rows } = process.stdout;
  // A terminal that does not know its size says 0.
  return { cols: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}
