import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { orAbort } from "./or-abort.ts";

test("a wait that comes after the abort throws its reason, and what was waited for may fail unseen", async () => {
  const unseen: unknown[] = [];
  const listen = (reason: unknown) => void unseen.push(reason);
  process.on("unhandledRejection", listen);
  onTestFinished(() => void process.off("unhandledRejection", listen));
  const reason = new Error("interrupted");
  const failing = Promise.reject(new Error("the request was aborted"));
  await expect(orAbort(failing, AbortSignal.abort(reason))).rejects.toBe(reason);
  await expect(orAbort(Promise.resolve(1), AbortSignal.abort(reason))).rejects.toBe(reason);
  await setImmediate();
  expect(unseen).toEqual([]);
});
