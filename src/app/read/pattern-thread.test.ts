import { expect, test } from "vitest";
import { PatternThread } from "./pattern-thread.ts";

/** Answers with the order of its questions, and dies of one that says so. */
const fragile = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    let count = 0;
    parentPort.on("message", ({ id, source }) => {
      if (source === "die") process.exit(1);
      count += 1;
      parentPort.postMessage({ id, took_ms: count, kind: "none" });
    });
  `)}`,
);

const question = (source: string) => ({ source, flags: "", bytes: new Uint8Array(1), from: 0 });
const swift = { isSlow: false };
const slow = { isSlow: true };

test("a search that the thread dies of is tried once more, then it is a fault, and the others go on", async () => {
  using thread = new PatternThread(fragile);
  const before = thread.ask(question("a"), swift);
  const deadly = thread.ask(question("die"), swift).reply.catch((error: unknown) => error);
  const after = [thread.ask(question("b"), swift), thread.ask(question("c"), swift)];
  expect(await before.reply).toMatchObject({ took_ms: 1 });
  expect(await deadly).toMatchObject({ code: "internal" });
  expect(await Promise.all(after.map(({ reply }) => reply))).toMatchObject([
    { took_ms: 1 },
    { took_ms: 2 },
  ]);
});

test("slow patterns and decent ones take turns", async () => {
  using thread = new PatternThread(fragile);
  const order: string[] = [];
  const ask = (name: string, speed: { readonly isSlow: boolean }) =>
    thread.ask(question(name), speed).reply.then(() => order.push(name));
  await Promise.all([
    ...["slow 1", "slow 2", "slow 3"].map((name) => ask(name, slow)),
    ...["swift 1", "swift 2"].map((name) => ask(name, swift)),
  ]);
  expect(order).toEqual(["slow 1", "slow 2", "swift 1", "slow 3", "swift 2"]);
});

test("nothing is asked once it is disposed", () => {
  const thread = new PatternThread(fragile);
  thread[Symbol.dispose]();
  expect(() => thread.ask(question("a"), swift)).toThrow(
    expect.objectContaining({ code: "shutting_down" }),
  );
});

test("where no thread can be started nobody waits for one", async () => {
  using thread = new PatternThread(new URL("http://127.0.0.1/no-thread"));
  for (let times = 0; times < 3; times += 1)
    await expect(thread.ask(question("a"), swift).reply).rejects.toMatchObject({
      code: "internal",
    });
  expect(thread.waiting).toBe(0);
});
