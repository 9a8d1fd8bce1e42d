import { expect, test } from "vitest";
import { openWrittenSession, WRITTEN_SESSION } from "#test/harness/written-session.ts";

test("a size holds from the byte that was printed for it", async () => {
  using session = openWrittenSession();
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const note = (type: string, offset: number, cols: number) =>
    session.note({ type, offset, cols, rows: 10 });
  note("session.opened", 0, 80);
  note("session.resized", 5, 90);
  note("session.resized", 5, 91);
  session.note({ type: "session.title", title: "session.resized" });
  session.note({ type: "session.resized", offset: "x", cols: 1, rows: 1 });
  const { sizes } = handle;
  const tail = handle.eventsTail;
  expect(sizes.at(0, tail)).toMatchObject({ cols: 80 });
  expect(sizes.at(4, tail)).toMatchObject({ cols: 80 });
  expect(sizes.at(5, tail)).toMatchObject({ cols: 91 });
  const first = sizes.at(0, tail)?.serial ?? 0;
  expect(sizes.after(first, tail)).toMatchObject({ offset: 5, cols: 90 });
  expect(sizes.after(first + 1, tail)).toMatchObject({ offset: 5, cols: 91 });
  expect(sizes.after(first + 2, tail)).toBeUndefined();
});

test("what is not yet told is not yet known", async () => {
  using session = openWrittenSession();
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  const { sizes } = handle;
  session.note({ type: "session.opened", cols: 80, rows: 24 });
  const tail = handle.eventsTail;
  session.note({ type: "session.resized", offset: 0, cols: 90, rows: 10 });
  expect(sizes.at(0, tail)).toMatchObject({ cols: 80 });
  expect(sizes.at(0, handle.eventsTail)).toMatchObject({ cols: 90 });
});

test("where there is no terminal the events are not looked through for its size", async () => {
  using session = openWrittenSession({ kind: "agent", mode: "pipe", cols: null, rows: null });
  using handle = await session.hosts.of(WRITTEN_SESSION).open(WRITTEN_SESSION);
  session.note({ type: "session.opened", cols: 80, rows: 24 });
  const { sizes } = handle;
  expect(sizes.at(0, handle.eventsTail)).toBeUndefined();
  expect(sizes.after(0, handle.eventsTail)).toBeUndefined();
});
