/** Raw mode for the length of a scope; put back on every way out that a process has. */
export function openRawMode(undo: () => string): Disposable {
  const { stdin, stdout } = process;
  stdin.setRawMode(true);
  return onceAtEnd(() => {
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(undo());
  });
}

/** Runs when the scope ends, or the process before it. */
export function onceAtEnd(restore: () => void): Disposable {
  let isOpen = true;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    process.off("exit", end);
    restore();
  };
  // `exit` also covers an error that was not caught; signals are the caller's to turn into an orderly end.
  process.on("exit", end);
  return { [Symbol.dispose]: end };
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
