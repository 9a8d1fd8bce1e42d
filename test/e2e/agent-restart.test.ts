import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { openRemoteBackend } from "#client/runtime.ts";
import type { SessionId } from "#contract/ids.ts";
import { LONG_MS, openControl, readLog, SLOW_MS, waitForEvent } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { openGatewayProcess } from "#test/harness/gateway-process.ts";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { isAlive } from "#test/harness/processes.ts";
import { inline, say, scripted } from "#test/harness/runtimes.ts";

/** Messages that were accepted before a worker crashed: the next life starts by itself and takes them up. */

const TEAM = inline(
  scripted([
    { when: { last_user_contains: "wait" }, delay_ms: 600_000, text: "Never." },
    { text: "Yes.", repeat: true },
  ]),
);

/** The messages, and how turns ended, as they are on the disk. */
function readSaid(dataDir: string, sessionId: string): string[] {
  const path = join(dataDir, "sessions", sessionId, "events", "0000000000000000");
  return describe(readFileSync(path, "utf8").split("\n"));
}

function describe(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    if (line === "") return [];
    const event = JSON.parse(line);
    if (event.type === "message.user") return [event.content[0].text];
    return event.type === "turn.ended" ? [event.reason] : [];
  });
}

async function killWorker({ client }: TestHost, session_id: string): Promise<void> {
  const { pid } = await client.call("session.get", { session_id });
  process.kill(pid ?? 0, "SIGKILL");
  await waitFor("the worker to be gone", () => !isAlive(pid ?? 0));
}

const TAKEN_UP = ["wait", "interrupted", "left", "done", "first", "done", "second", "done"];

test("a gateway restarts a worker that was killed while messages wait, and they are taken up in order", async () => {
  await using gateway = await openTestGateway();
  const { dataDir } = gateway.host;
  const backend = openRemoteBackend(createClient({ url: gateway.url, token: gateway.token }));
  await using runtime = await backend.create({ source: TEAM, working_dir: dataDir });
  await runtime.send(say("wait"));
  await runtime.followUp({ messages: say("first") });
  await runtime.followUp({ messages: say("second") });
  expect(await runtime.steer({ messages: say("left") })).toMatchObject({ status: "queued" });
  await killWorker(gateway.host, runtime.session_id);
  await waitFor("all of it to be taken up", () => {
    const said = readSaid(dataDir, runtime.session_id);
    return said.length === TAKEN_UP.length;
  });
  expect(readSaid(dataDir, runtime.session_id)).toEqual(TAKEN_UP);
});

test("a gateway that starts restarts what crashed while none ran, the host's own death included", async () => {
  await using host = await openTestHost();
  const { dataDir } = host;
  await using first = await openGatewayProcess({ dataDir });
  const token = readFileSync(join(dataDir, "token"), "utf8").trim();
  const backend = openRemoteBackend(createClient({ url: first.door.url, token }));
  const create = async () => {
    const { session_id, ...runtime } = await backend.create({ source: TEAM, working_dir: dataDir });
    await runtime.send(say("wait"));
    await runtime.followUp({ messages: say("then") });
    // The host made the id.
    return session_id as SessionId;
  };
  const killed = await create();
  const lost = await create();
  await first.kill("SIGKILL");
  await killWorker(host, killed);
  await host.kill("SIGKILL");
  await using second = await openGatewayProcess({ dataDir });
  for (const session_id of [killed, lost])
    await waitFor(
      "it to be taken up",
      () => readSaid(dataDir, session_id).join().includes("then,done"),
      { timeout: LONG_MS },
    );
  expect(readSaid(dataDir, killed)).toEqual(["wait", "interrupted", "then", "done"]);
  expect(readSaid(dataDir, lost)).toEqual(["wait", "interrupted", "then", "done"]);
  for (const session_id of [killed, lost]) await second.door.get("session.close", { session_id });
});

test(
  "without a server the next command that looks at the agent restarts it",
  async () => {
    await using control = await openControl("local");
    const { reins } = control;
    const id = await control.agent();
    await control.run("send", "for ever", "--to", id);
    await control.run("send", "--followup", "And then?", "--to", id);
    const { pid } = JSON.parse(
      readFileSync(join(reins.home, "sessions", id, "session.json"), "utf8"),
    ).process;
    process.kill(pid, "SIGKILL");
    await waitForEvent(reins, id, ({ type }) => type === "session.exited");
    expect(await control.run("wait", "--for", "idle", "--to", id)).toMatchObject({ code: 0 });
    expect(describe(readLog(reins, id)).slice(2)).toEqual([
      ...["for ever", "interrupted"],
      ...["And then?", "done"],
    ]);
  },
  SLOW_MS,
);
