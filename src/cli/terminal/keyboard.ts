import { systemClock } from "#base/clock.ts";
import { KeyChords } from "./key-chords.ts";
import { currentSize, onResize, type Size } from "./raw-mode.ts";

/** Where keys go, and the terminal's size. Who holds no control types into nothing. */
export interface Typed {
  type(bytes: Buffer): void;
  resize(size: Size): void;
  /** By force; the size becomes ours. */
  take(size: () => Size): void;
}

/** What is typed within one answer to who takes control: beyond it keys are lost. */
export const AHEAD_CHUNKS = 256;

/** Keys go to the session, sizes too. */
export function typeInto(seat: Typed, detach: () => void): Disposable {
  using stack = new DisposableStack();
  const chords = stack.use(
    new KeyChords(
      {
        keys: (bytes) => seat.type(bytes),
        chord: (chord) => (chord === "detach" ? detach() : seat.take(currentSize)),
      },
      systemClock,
    ),
  );
  const onData = (bytes: Buffer) => chords.push(bytes);
  process.stdin.on("data", onData);
  process.stdin.resume();
  stack.defer(() => void process.stdin.off("data", onData));
  stack.use(onResize((size) => seat.resize(size)));
  seat.resize(currentSize());
  return stack.move();
}
