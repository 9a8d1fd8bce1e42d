import { expect } from "vitest";
import { openServedGateway, type ServedGateway } from "./access-serve.ts";
import { waitFor } from "./eventually.ts";
import { countDescriptors } from "./processes.ts";
import type { TestSocket } from "./socket.ts";

/** How many messages of each kind of nonsense; `npm run soak` sends more of them. */
export const FUZZ_TIMES = Number(process.env.FUZZ_RUNS ?? 200);
/** Generous, for a machine that does much else. */
export const FUZZ_WAIT = { timeout: 30_000 };

/** A line for a shell: takes whatever is typed from then on, and no key means anything to it. */
export const TAKE_ANYTHING = "stty raw -echo; echo read''y; exec cat > /dev/null";

export interface FuzzWorld extends AsyncDisposable {
  readonly gateway: ServedGateway;
  /** A terminal that takes whatever is typed. */
  readonly target: string;
  readonly authorized: Readonly<Record<string, string>>;
  /** The gateway answers, a shell that nobody talks to but the check does too, and the target runs. */
  checkHealth(): Promise<void>;
  /** The same, and the gateway has no more descriptors than before. */
  checkAfter(): Promise<void>;
}

/** A gateway in a process of its own, with two sessions that have to outlive all nonsense. */
export async function openFuzzWorld(): Promise<FuzzWorld> {
  await using stack = new AsyncDisposableStack();
  const gateway = stack.use(await openServedGateway());
  const target = await openTarget(gateway);
  const argv = ["/bin/bash", "--norc", "-i"];
  const shell = await gateway.get("session.create", { kind: "terminal", argv });
  const witness = await gateway.attach(shell.session_id, "?role=controller");
  let asks = 0;
  const checkHealth = async () => {
    asks += 1;
    await checkWitness(gateway, witness, asks);
    const { sessions } = await gateway.get("session.list", { state: "live" });
    const ids = sessions.map(({ session_id }) => session_id);
    expect(ids.toSorted()).toEqual([target, shell.session_id].toSorted());
  };
  await checkHealth();
  const descriptors = await settle(gateway.pid, Number.POSITIVE_INFINITY);
  const owned = stack.move();
  return {
    gateway,
    target,
    authorized: { Authorization: `Bearer ${gateway.token}` },
    checkHealth,
    checkAfter: async () => {
      await checkHealth();
      await settle(gateway.pid, descriptors);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function openTarget(gateway: ServedGateway): Promise<string> {
  const made = await gateway.get("session.create", { kind: "terminal", command: TAKE_ANYTHING });
  await using socket = await gateway.attach(made.session_id);
  await socket.printed("ready");
  const { session_id } = made;
  // A screen that was asked for is kept up to date for a while, and what is read meanwhile stays open: that is no leak.
  await gateway.get("session.screen", { session_id });
  for (const log of ["output?since=0", "events?since=0&follow=false"])
    await (await gateway.fetch(`/v1/sessions/${session_id}/${log}`)).arrayBuffer();
  return session_id;
}

async function checkWitness(gateway: ServedGateway, witness: TestSocket, asks: number) {
  expect(gateway.ended()).toBeUndefined();
  expect(await gateway.get("server.health", {})).toMatchObject({ status: "ok" });
  witness.send({ type: "stdin", data: `echo here $((${asks} + 1000))\n` });
  await witness.printed(`here ${asks + 1000}`);
}

/** Descriptors of the gateway when nobody but the witness is connected. */
async function settle(pid: number, most: number): Promise<number> {
  let last = -1;
  return await waitFor(
    `twice in a row as many descriptors, and at most ${most}`,
    () => {
      const now = countDescriptors(pid);
      const isSame = now === last && now <= most;
      last = now;
      return isSame ? now : false;
    },
    FUZZ_WAIT,
  );
}

/** Many at once over one socket, in batches that it has taken before the next. */
export async function sendFrames(socket: TestSocket, make: () => string | Buffer): Promise<void> {
  const BATCH = 500;
  for (let sent = 0; sent < FUZZ_TIMES; sent += BATCH) {
    for (let index = 0; index < BATCH; index += 1) socket.send(make());
    await waitFor("they are on their way", () => socket.socket.bufferedAmount === 0, FUZZ_WAIT);
  }
}
