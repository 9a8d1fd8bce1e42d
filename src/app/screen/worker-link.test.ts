import { join } from "node:path";
import { expect, test } from "vitest";
import { locateWorkerFile } from "#base/worker-file.ts";
import { writeSession } from "#test/harness/recordings.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import type { ScreenRequest } from "./requests.ts";
import { WorkerLink } from "./worker-link.ts";

const SIZE = { cols: 80, rows: 24 };

test("a request outlives one death of the worker, not two", async () => {
  using setting = openSetting("many words\r\n".repeat(300_000));
  await using link = new WorkerLink(locateWorkerFile(import.meta.url, "screen-worker"));
  const once = link.ask(setting.request);
  await link.worker?.terminate();
  expect(await once).toMatchObject({ lines: expect.arrayContaining(["many words"]) });

  const twice = link.ask({ ...setting.request, session_id: "2" });
  const refused = expect(twice).rejects.toMatchObject({ code: "internal" });
  await link.worker?.terminate();
  await link.worker?.terminate();
  await refused;
  expect(await link.ask(setting.request)).toMatchObject({ exact: true });
});

test("more requests than it takes are sent away, and those under way are answered", async () => {
  using setting = openSetting("words");
  await using link = new WorkerLink(locateWorkerFile(import.meta.url, "screen-worker"));
  const asked = Array.from({ length: 256 }, () => link.ask(setting.request));
  await expect(link.ask(setting.request)).rejects.toMatchObject({ code: "too_many" });
  expect(await Promise.all(asked)).toHaveLength(256);
  expect(await link.ask(setting.request)).toMatchObject({ exact: true });
});

test("who asks when no thread can be started is told so and holds no place", async () => {
  using setting = openSetting("words");
  await using link = new WorkerLink(new URL("http://127.0.0.1/no-thread"));
  for (let times = 0; times <= 256; times += 1)
    await expect(link.ask(setting.request)).rejects.toMatchObject({ code: "internal" });
});

test("whoever waits when it ends is told so, and so is who comes then", async () => {
  using setting = openSetting("words");
  const link = new WorkerLink(locateWorkerFile(import.meta.url, "screen-worker"));
  const waiting = expect(link.ask(setting.request)).rejects.toMatchObject({
    code: "shutting_down",
  });
  await link[Symbol.asyncDispose]();
  await waiting;
  await expect(link.ask(setting.request)).rejects.toMatchObject({ code: "shutting_down" });
});

test.each([
  ["file:///a/src/app/screen/screens.ts", "file:///a/src/app/screen/screen-worker.ts"],
  ["file:///a/dist/chunks/serve-ABC.js", "file:///a/dist/screen-worker.js"],
  ["file:///a/dist/main.js", "file:///a/dist/screen-worker.js"],
])("from %s the worker is %s", (from, to) => {
  expect(locateWorkerFile(from, "screen-worker").href).toBe(to);
});

function openSetting(text: string): Disposable & { readonly request: ScreenRequest } {
  const dir = openTempDir();
  const folder = join(dir.path, "1");
  const bytes = Buffer.from(text);
  writeSession(folder, { ...SIZE, bytes, resizes: [] });
  return {
    request: {
      session_id: "1",
      folder,
      format: "text",
      at: undefined,
      tail: bytes.length,
      sizeAtTail: SIZE,
      convertEol: false,
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}
