import { expect, test } from "vitest";
import { type Client, createClient } from "#client/client.ts";
import { SignIn } from "./sign-in.ts";

const me = { user_id: "ann", role: "operator", workspaces: "*", expires_at: null };

/** A server with one valid cookie at most, and tickets that give one. */
function openServer() {
  const asked: string[] = [];
  const server = {
    user: undefined as string | undefined,
    asked,
    endStreams: (): void => undefined,
  };
  const refuse = () =>
    Response.json(
      { error: { code: "unauthenticated", message: "no", details: {} } },
      { status: 401 },
    );
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const path = new URL(url).pathname;
    asked.push(path);
    if (path === "/v1/tickets/exchange") {
      const { ticket } = JSON.parse(String(init.body));
      if (!ticket.startsWith("for_")) return refuse();
      server.user = ticket.slice("for_".length);
    }
    if (server.user === undefined) return refuse();
    if (path === "/v1/events") return stream(init.signal ?? undefined);
    if (path === "/v1/sessions") return Response.json({ sessions: [], cursor: null });
    return Response.json({ ...me, user_id: server.user });
  };
  const stream = (signal?: AbortSignal) => {
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('data: {"type":"ready"}\n\n'));
        server.endStreams = () => controller.close();
        signal?.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const create = (onUnauthenticated: () => void): Client =>
    createClient({
      ...{ url: "http://localhost", page: true, onUnauthenticated, pause: async () => undefined },
      fetch: fetch as typeof globalThis.fetch,
    });
  return { server, signIn: new SignIn(create) };
}

async function settled(signIn: SignIn, kind: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = signIn.view.subscribe(() => {
    if (signIn.view.get().kind === kind) resolve();
  });
  await promise;
  stop();
  return signIn.view.get();
}

const userOf = (signIn: SignIn) => {
  const entrance = signIn.view.get();
  return entrance.kind === "inside" ? entrance.app.identity.user_id : entrance;
};

test("without a cookie there is nothing to explain, and a ticket signs in", async () => {
  const { signIn } = openServer();
  await signIn.enter();
  expect(signIn.view.get()).toEqual({ kind: "outside", why: undefined });
  await signIn.enter({ ticket: "for_ann" });
  expect(userOf(signIn)).toBe("ann");
});

test("a stream that is refused with 401 signs out at once, and nothing is asked after it", async () => {
  const { server, signIn } = openServer();
  server.user = "ann";
  await signIn.enter();
  while (!server.asked.includes("/v1/sessions")) await Promise.resolve();
  server.user = undefined;
  const out = settled(signIn, "outside");
  server.endStreams();
  expect(await out).toEqual({
    kind: "outside",
    why: "Your session has expired. Sign in again.",
  });
  const { length } = server.asked;
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
  expect(server.asked.length).toBe(length);
});

test("a call that is refused with 401 signs out at once", async () => {
  const { server, signIn } = openServer();
  server.user = "ann";
  await signIn.enter();
  const entrance = signIn.view.get();
  server.user = undefined;
  if (entrance.kind === "inside")
    await entrance.app.client.call("caller.get", {}).catch(() => undefined);
  expect(signIn.view.get().kind).toBe("outside");
});

test("another ticket changes the user, and one that does not work changes nothing", async () => {
  const { signIn } = openServer();
  await signIn.enter({ ticket: "for_ann" });
  await signIn.enter({ ticket: "for_bob" });
  expect(userOf(signIn)).toBe("bob");
  await signIn.enter({ ticket: "used" });
  await signIn.enter({ ticket: undefined });
  const entrance = signIn.view.get();
  expect(
    entrance.kind === "inside" && entrance.app.toasts.list.get().map(({ text }) => text),
  ).toEqual([
    "This ticket is invalid, used or expired. Run `reins open` for a new one.",
    "This ticket is invalid, used or expired. Run `reins open` for a new one.",
  ]);
  expect(userOf(signIn)).toBe("bob");
});
