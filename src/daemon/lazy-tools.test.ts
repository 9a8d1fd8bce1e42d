import { expect, test } from "vitest";
import { openOnce } from "#base/once.ts";
import { SessionId } from "#contract/ids.ts";
import type { Tools } from "#contract/tools/tools.ts";
import { createLazyTools, createUnsupportedTools } from "./lazy-tools.ts";

const asked = { process_id: SessionId.parse("ses_0000000000000000") };

test("tools are opened by the first call and shared by all", async () => {
  let opened = 0;
  const tools = createLazyTools(async () => {
    opened += 1;
    return { process_output: async (input: object) => ({ input }) } as unknown as Tools;
  });
  const { process_output } = tools;
  expect(opened).toBe(0);
  expect(await Promise.all([process_output(asked), tools.process_output(asked)])).toEqual([
    { input: asked },
    { input: asked },
  ]);
  expect(opened).toBe(1);
});

test("what could not be opened is tried again by the next who asks", async () => {
  let tries = 0;
  const get = openOnce(async () => {
    tries += 1;
    if (tries === 1) throw new Error("not yet");
    return tries;
  });
  const both = await Promise.allSettled([get(), get()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await get()).toBe(2);
  expect(await get()).toBe(2);
});

test("tools of an agent without a host say so", async () => {
  const tools = createUnsupportedTools("there is no host here");
  await expect(tools.process_output(asked)).rejects.toMatchObject({
    code: "unsupported",
    message: "there is no host here",
  });
});
