import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import type { TestSocket } from "#test/harness/socket.ts";

/** For the tests that need no gateway of their own. */
const leaseGateway = leaseForFile(() => openTestGateway());

/** The contents of a replay. */

const PRINTED = 100_000_000;

test("a range that is no longer kept is a gap before the data, on every way to read it", async () => {
  await using gateway = await leaseGateway();
  const { session_id } = await gateway.get("session.create", {
    kind: "command",
    command: `head -c ${PRINTED} /dev/zero | tr '\\0' x`,
  });
  await gateway.get("session.wait", { session_id, for: "exit", timeout_ms: 60_000 });
  await using socket = await gateway.attach(session_id, "?since=0", {
    protocols: ["reins.bin.v1"],
  });
  await socket.ended();
  const [gap] = socket.all("gap");
  expect(gap).toMatchObject({ from: 4_194_304 });
  const to = Number(gap?.to);
  const [before, behind] = [to - 1, to];
  expect(socket.binary.map(({ offset }) => offset)).toContain(behind);
  const bytes = socket.binary.reduce((sum, part) => sum + part.bytes.length, 0);
  expect(bytes + (to - 4_194_304)).toBe(PRINTED);
  const ranged = await gateway.fetch(`/v1/sessions/${session_id}/output?since=${before}&limit=10`);
  expect(ranged.headers.get("x-reins-gap")).toBe(`${before}-${to}`);
  expect(ranged.headers.get("x-reins-offset")).toBe(String(to));
  expect(ranged.headers.get("x-reins-next")).toBe(String(to + 10));
  const upTo = await gateway.fetch(`/v1/sessions/${session_id}/output?since=4194300&limit=100`);
  expect(upTo.headers.get("x-reins-next")).toBe("4194304");
  expect(upTo.headers.get("x-reins-gap")).toBeNull();
});

test("a paste of 1 MiB arrives whole on a raw terminal", async () => {
  await using gateway = await leaseGateway();
  const paste = Buffer.alloc(1024 * 1024, "0123456789abcdef\n");
  const { session_id } = await gateway.get("session.create", {
    kind: "terminal",
    argv: ["/bin/sh", "-c", `stty raw -echo; printf ready; head -c ${paste.length} | sha256sum`],
  });
  await using socket = await gateway.attach(session_id, "?role=controller");
  await socket.printed("ready");
  for (let at = 0; at < paste.length; at += 65_536) {
    const data = paste.subarray(at, at + 65_536).toString("base64");
    socket.send({ type: "stdin", data, encoding: "base64", id: String(at) });
  }
  await socket.frame("exit");
  expect(socket.output().toString()).toContain(createHash("sha256").update(paste).digest("hex"));
});

test("an attach in the middle of a flood loses, doubles and reorders nothing", async () => {
  await using gateway = await leaseGateway();
  const { session_id } = await gateway.get("session.create", {
    kind: "terminal",
    argv: ["/bin/sh", "-c", "stty -opost; seq 1 400000"],
  });
  const sockets: TestSocket[] = [];
  for (let viewer = 0; viewer < 8; viewer += 1) {
    const { tail } = await gateway.get("session.get", { session_id });
    const since = Math.floor((tail * viewer) / 8);
    sockets.push(
      await gateway.attach(
        session_id,
        `?since=${since}`,
        viewer % 2 === 0 ? {} : { protocols: ["reins.bin.v1"] },
      ),
    );
  }
  const whole = (await gateway.host.output(session_id)).bytes;
  for (const socket of sockets) {
    await socket.ended();
    const { offset } = await socket.frame("connected");
    expect(socket.output().equals(whole.subarray(Number(offset)))).toBe(true);
  }
});

test("a painted attach begins with the screen and goes on behind it", async () => {
  await using gateway = await leaseGateway();
  const { session_id } = await gateway.get("session.create", {
    kind: "terminal",
    argv: [
      "/bin/sh",
      "-c",
      "stty -opost; seq 1 200000; printf '\\033[?1049h\\033[2J\\033[5;7Hhere'; cat",
    ],
  });
  await screenShows(gateway, session_id, "here");
  const screen = await gateway.get("session.screen", { session_id });
  expect(screen).toMatchObject({ alternate: true, cursor: { row: 4, col: 10 }, exact: true });
  await using socket = await gateway.attach(session_id, "?paint=1&role=controller");
  const painted = await socket.frame("screen");
  expect(painted.offset).toBe((await gateway.get("session.get", { session_id })).tail);
  expect(String(painted.state)).toContain("here");
  expect(socket.output().length).toBe(0);
  await socket.ask({ type: "stdin", data: "behind", id: "1" });
  await socket.printed("behind");
  expect(socket.all("stdout")[0]).toMatchObject({ offset: painted.offset });
});

test("a replay never types: after 20 attaches the child has read nothing", async () => {
  await using gateway = await leaseGateway();
  // Asks the terminal for everything that a terminal answers, then shows what comes in.
  const queries =
    "\\033[c\\033[>c\\033[6n\\033[5n\\033[?6n\\033]10;?\\007\\033]11;?\\007\\033[14t\\033[18t\\033P$qm\\033\\\\";
  const { session_id } = await gateway.get("session.create", {
    kind: "terminal",
    argv: ["/bin/sh", "-c", `stty raw -echo; printf '${queries}asked'; exec od -An -c -v -w1`],
  });
  for (let attach = 0; attach < 20; attach += 1) {
    await using socket = await gateway.attach(
      session_id,
      attach % 2 === 0 ? "?paint=1" : "?since=0",
    );
    await socket.frame(attach % 2 === 0 ? "screen" : "stdout");
    if (attach % 2 === 0)
      expect(String((await socket.frame("screen")).state)).not.toMatch(/\x1b\[[>?]?\d*[cn]/);
  }
  const { tail } = await gateway.get("session.get", { session_id });
  await using typist = await gateway.attach(session_id, `?role=controller&since=${tail}`);
  await typist.ask({ type: "stdin", data: "Z", id: "1" });
  await typist.printed("Z");
  expect(typist.output().toString().trim()).toBe("Z");
});

async function screenShows(gateway: TestGateway, session_id: string, text: string): Promise<void> {
  await waitFor(`a screen with ${text}`, async () => {
    const screen = await gateway.get("session.screen", { session_id });
    return "lines" in screen && screen.lines.some((line) => line.includes(text));
  });
}
