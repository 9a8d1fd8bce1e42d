import { expect, test } from "vitest";
import { createClient } from "#client/client.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { openTestGateway, type TestGateway } from "#test/harness/gateway.ts";
import { repeats } from "#test/harness/repeats.ts";
import { checkKeys, runTakeovers } from "#test/harness/takeovers.ts";

const TAKEOVERS = repeats({ few: 20, full: 10_000 });
const CUT_EVERY = repeats({ few: 15, full: 1000 });
const LIMIT_MS = repeats({ few: 60_000, full: 3_600_000 });
/** More than the ids that a session remembers. */
const MANY_KEYS = 1100;

test("two clients take control from each other while both type: no key is lost, doubled or out of order", {
  timeout: LIMIT_MS,
}, async () => {
  await using gateway = await openTestGateway();
  const session_id = await openCat(gateway);
  const size = { takeovers: TAKEOVERS, cutEvery: CUT_EVERY };
  const facts = await runTakeovers({ ...describe(gateway), session_id, ...size });
  expect([facts.wrong, checkKeys(await readAll(gateway, session_id), facts)]).toEqual([[], []]);
  expect(facts.takeovers).toBeGreaterThanOrEqual(TAKEOVERS);
});

test("a key whose answer was lost is not typed again after another client has typed more than a session remembers ids", async () => {
  await using gateway = await openTestGateway();
  const session_id = await openCat(gateway);
  const sockets: WebSocket[] = [];
  let isDeaf = false;
  const Deaf = class extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      sockets.push(this);
    }

    override dispatchEvent(event: Event): boolean {
      return isDeaf && event.type === "message" ? true : super.dispatchEvent(event);
    }
  };
  const returning = Promise.withResolvers<void>();
  const pause = () => returning.promise;
  const client = createClient({ ...describe(gateway), WebSocket: Deaf, pause });
  await using ann = client.attach(session_id, { role: "controller", stay: true });
  await ann.write("before\n");
  isDeaf = true;
  const typed = ann.write("once\n");
  await waitFor("the key arrives", async () => (await look(gateway, session_id)).tail >= 12);
  sockets[0]?.close(4999);
  await using bob = createClient(describe(gateway)).attach(session_id, {
    ...{ role: "controller", takeover: true },
  });
  for (let key = 0; key < MANY_KEYS; key += 100)
    await Promise.all(Array.from({ length: 100 }, (_, at) => bob.write(`b${key + at}\n`)));
  isDeaf = false;
  returning.resolve();
  await typed;
  await ann.take();
  await ann.write("after\n");
  await ann.eof();
  const lines = (await readAll(gateway, session_id)).trimEnd().split("\n");
  expect(lines.filter((line) => !line.startsWith("b") || line === "before")).toEqual([
    ...["before", "once", "after"],
  ]);
  expect(lines).toHaveLength(MANY_KEYS + 3);
});

function describe({ url, token }: TestGateway) {
  return { url, token };
}

function look(gateway: TestGateway, session_id: string) {
  return gateway.get("session.get", { session_id });
}

async function openCat(gateway: TestGateway): Promise<string> {
  const client = createClient(describe(gateway));
  const request = { kind: "command", command: "cat", stdin: true } as const;
  return (await client.call("session.create", request)).session_id;
}

async function readAll(gateway: TestGateway, session_id: string): Promise<string> {
  await waitFor("the session has ended", async () => {
    const { state } = await look(gateway, session_id);
    return state.kind === "exited" && state.final;
  });
  await using socket = await gateway.attach(session_id, "?since=0");
  await socket.ended();
  return socket.output().toString();
}
