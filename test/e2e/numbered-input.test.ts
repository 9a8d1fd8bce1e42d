import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { encodeAttachmentInput, nameAttachment } from "#contract/terminal/input-frame.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { openOtherVersion } from "#test/harness/other-version.ts";
import { binPath } from "#test/harness/packaged.ts";

/** Three cold starts of the program. */
const LONG_MS = 180_000;
const V3 = { protocols: ["reins.bin.v3", nameAttachment("ann"), "reins.bin.v2"] };

const input = (sequence: number, text: string) =>
  Buffer.from(encodeAttachmentInput({ sequence, id: "", bytes: Buffer.from(text), eof: false }));

test("with reins.bin.v3 the numbers of an attachment continue on its next connection", async () => {
  await using gateway = await openTestGateway();
  const session_id = await openCat(gateway);
  await using first = await gateway.attach(session_id, "?role=controller", V3);
  expect(first.socket.protocol).toBe("reins.bin.v3");
  expect(await first.frame("connected")).toMatchObject({ applied: null });
  for (const [sequence, text] of [
    [1, "one "],
    [2, "two "],
    [2, "two "],
    [4, "four "],
  ] as const)
    first.send(input(sequence, text));
  expect(await first.frame("error")).toMatchObject({
    ...{ sequence: 4, code: "input_out_of_order", expected: 3 },
  });
  // Its own earlier connection still holds control.
  await using second = await gateway.attach(session_id, "?role=controller", V3);
  const connected = await second.frame("connected");
  expect(connected).toMatchObject({ role: "controller", applied: 2 });
  second.send(input(2, "two "));
  second.send(input(3, "three"));
  second.send(
    Buffer.from(encodeAttachmentInput({ sequence: 4, id: "", bytes: new Uint8Array(), eof: true })),
  );
  await second.ended();
  expect(second.all("ack").map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
  expect(second.output().toString()).toBe("one two three");
});

test("with reins.bin.v3 a client that asks for control which another has is refused and closed with 4001", async () => {
  await using gateway = await openTestGateway();
  const session_id = await openCat(gateway);
  await using _holder = await gateway.attach(session_id, "?role=controller", V3);
  await _holder.frame("connected");
  const protocols = ["reins.bin.v3", nameAttachment("bob")];
  await using other = await gateway.attach(session_id, "?role=controller", { protocols });
  expect((await other.ended()).code).toBe(4001);
  expect(other.all("error")).toMatchObject([{ code: "not_controller" }]);
  expect(other.all("connected")).toEqual([]);
});

test("an attachment types on through an older host and back, each key once", {
  timeout: LONG_MS,
}, async () => {
  using older = openOtherVersion("0.0.9", [
    { file: "src/host/socket/methods.ts", from: '  "numbered",\n', to: "" },
    { file: "src/host/upgrade/versions.ts", from: "    numbered: true,\n", to: "" },
    {
      file: "src/host/socket/frames.ts",
      from: "    case KIND_NUMBERED:\n      return readNumbered(rest);\n",
      to: "",
    },
  ]);
  await using gateway = await openTestGateway();
  const session_id = await openCat(gateway);
  const client = createClient({ url: gateway.url, token: gateway.token });
  await using attached = client.attach(session_id, { role: "controller" });
  let typed = 0;
  const type = async () => {
    typed += 1;
    await attached.write(`${typed}\n`);
  };
  await type();
  for (const command of [older.command, [process.execPath, binPath]]) {
    await gateway.host.client.call("host.upgrade", { command });
    for (let key = 0; key < 5; key += 1) await type();
  }
  await attached.eof();
  await waitFor("the session has ended", async () => {
    const { state } = await gateway.get("session.get", { session_id });
    return state.kind === "exited" && state.final;
  });
  await using socket = await gateway.attach(session_id, "?since=0");
  await socket.ended();
  const lines = socket.output().toString().trimEnd().split("\n");
  expect(lines).toEqual(Array.from({ length: typed }, (_, key) => String(key + 1)));
});

async function openCat(gateway: TestGateway): Promise<string> {
  const request = { kind: "command", command: "cat", stdin: true } as const;
  return (await gateway.get("session.create", request)).session_id;
}
