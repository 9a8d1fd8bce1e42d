import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { locateWorkerFile } from "#base/worker-file.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { writeSession } from "#test/harness/recordings.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { DrawingProcess, type WorkerLimits } from "./drawing-process.ts";
import type { ScreenRequest } from "./requests.ts";

const SIZE = { cols: 80, rows: 24 };

/** Answers a request with its session; what the session is called is what happens. */
const FRAGILE = `
  process.on("disconnect", () => process.exit());
  process.on("message", ({ id, request }) => {
    const { session_id } = request;
    if (session_id === "heap") { const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length + 0.5)); }
    if (session_id === "stuck") for (;;);
    if (session_id === "slow") setTimeout(() => process.send({ id, answer: session_id }), 100);
    else process.send({ id, answer: session_id });
  });
  process.send({ beat: 0 });
`;

test.each(["heap", "stuck"])(
  "a session on which the process ends by %s is refused, and the others are answered",
  async (deadly) => {
    using dir = openTempDir();
    await using link = openFragile(dir.path, {
      heapMib: 32,
      stuckMs: deadly === "stuck" ? 1000 : 30_000,
    });
    const before = link.ask(named("slow"));
    const refused = { code: "unsupported", details: { session_id: deadly } };
    const fatal = [link.ask(named(deadly)), link.ask(named(deadly))].map((answer) =>
      expect(answer).rejects.toMatchObject(refused),
    );
    const after = link.ask(named("swift"));
    expect(await Promise.all([before, after])).toEqual(["slow", "swift"]);
    await Promise.all(fatal);
    const { child } = link;
    await expect(link.ask(named(deadly))).rejects.toMatchObject(refused);
    expect(await link.ask(named("swift"))).toBe("swift");
    expect(link.child).toBe(child);
  },
  60_000,
);

test("a request outlives one death of the process that it is not to blame for", async () => {
  using dir = openTempDir();
  await using link = openFragile(dir.path, {});
  expect(await link.ask(named("swift"))).toBe("swift");
  const slow = link.ask(named("slow"));
  link.child?.kill("SIGKILL");
  expect(await slow).toBe("slow");
});

test("a process that does not start is a fault of no session", async () => {
  using dir = openTempDir();
  const file = join(dir.path, "entry.mjs");
  writeFileSync(file, "process.exit(3);");
  await using link = new DrawingProcess(pathToFileURL(file));
  await expect(link.ask(named("swift"))).rejects.toMatchObject({ code: "internal" });
  writeFileSync(file, FRAGILE);
  expect(await link.ask(named("swift"))).toBe("swift");
});

test("the process ends with the one that started it", async () => {
  using dir = openTempDir();
  const entry = join(dir.path, "entry.mjs");
  const parent = join(dir.path, "parent.mjs");
  writeFileSync(entry, FRAGILE);
  writeFileSync(
    parent,
    `import { DrawingProcess } from ${JSON.stringify(new URL("./drawing-process.ts", import.meta.url).href)};
     const link = new DrawingProcess(new URL("./entry.mjs", import.meta.url));
     await link.ask({ session_id: "swift" });
     console.log(link.child.pid);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [parent]);
  await waitFor("the end of the process that draws", () => !isAlive(Number(stdout)));
});

test("more requests than it takes are sent away, and those under way are answered", async () => {
  using setting = openSetting("words");
  await using link = new DrawingProcess(locateWorkerFile(import.meta.url, "screen-worker"));
  const asked = Array.from({ length: 256 }, () => link.ask(setting.request));
  await expect(link.ask(setting.request)).rejects.toMatchObject({ code: "too_many" });
  expect(await Promise.all(asked)).toHaveLength(256);
  expect(await link.ask(setting.request)).toMatchObject({ exact: true });
});

test("whoever waits when it ends is told so, and so is who comes then", async () => {
  using setting = openSetting("words");
  const link = new DrawingProcess(locateWorkerFile(import.meta.url, "screen-worker"));
  const waiting = expect(link.ask(setting.request)).rejects.toMatchObject({
    code: "shutting_down",
  });
  await link[Symbol.asyncDispose]();
  await waiting;
  await expect(link.ask(setting.request)).rejects.toMatchObject({ code: "shutting_down" });
});

test.each([
  ["file:///a/src/screen/screens.ts", "file:///a/src/screen/screen-worker.ts"],
  ["file:///a/dist/chunks/serve-ABC.js", "file:///a/dist/screen-worker.js"],
  ["file:///a/dist/main.js", "file:///a/dist/screen-worker.js"],
])("from %s the worker is %s", (from, to) => {
  expect(locateWorkerFile(from, "screen-worker").href).toBe(to);
});

function openFragile(folder: string, options: WorkerLimits): DrawingProcess {
  const file = join(folder, "entry.mjs");
  writeFileSync(file, FRAGILE);
  return new DrawingProcess(pathToFileURL(file), options);
}

function named(session_id: string): ScreenRequest {
  const rest = { format: "text" as const, at: undefined, tail: 0, sizeAtTail: SIZE };
  return { session_id, folder: "", convertEol: false, ...rest };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

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
