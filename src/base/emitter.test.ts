import { expect, test } from "vitest";
import { Emitter } from "./emitter.ts";

test("a throwing listener stops nobody else and is told", () => {
  const errors: unknown[] = [];
  const seen: number[] = [];
  const emitter = new Emitter<number>((error) => errors.push(error));
  emitter.on(() => {
    throw new Error("no");
  });
  emitter.on((value) => seen.push(value));
  emitter.emit(1);
  expect(seen).toEqual([1]);
  expect(errors).toEqual([new Error("no")]);
});

test("the same function may listen twice, each until its own end", () => {
  let calls = 0;
  const emitter = new Emitter<void>(() => undefined);
  const listener = () => {
    calls += 1;
  };
  const first = emitter.on(listener);
  emitter.on(listener);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  emitter.emit();
  expect(calls).toBe(1);
  expect(emitter.size).toBe(1);
});

test("a listener that is ended by another during the call hears nothing more", () => {
  const seen: string[] = [];
  const emitter = new Emitter<void>(() => undefined);
  emitter.on(() => {
    seen.push("a");
    b[Symbol.dispose]();
  });
  const b = emitter.on(() => seen.push("b"));
  emitter.on(() => seen.push("c"));
  emitter.emit();
  expect(seen).toEqual(["a", "c"]);
});

test("a listener that ends itself during the call keeps the others served", () => {
  const seen: string[] = [];
  const emitter = new Emitter<void>(() => undefined);
  const a = emitter.on(() => {
    seen.push("a");
    a[Symbol.dispose]();
  });
  emitter.on(() => seen.push("b"));
  emitter.emit();
  emitter.emit();
  expect(seen).toEqual(["a", "b", "b"]);
});
