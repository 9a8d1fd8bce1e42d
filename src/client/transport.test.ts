import { expect, test } from "vitest";
import { FakeSocket } from "./testing/fake-sockets.ts";
import { createTransport } from "./transport.ts";

test("the owner of a client hears of every refusal as unauthenticated, and of no other", async () => {
  let heard = 0;
  let status = 401;
  const transport = createTransport({
    url: "http://localhost",
    page: true,
    onUnauthenticated: () => {
      heard += 1;
    },
    fetch: async () => {
      const code = status === 401 ? "unauthenticated" : "forbidden";
      return Response.json({ error: { code, message: "no", details: {} } }, { status });
    },
    // FakeSocket takes the arguments that the transport passes.
    WebSocket: FakeSocket as never,
  });
  await expect(transport.request("caller.get", {})).rejects.toThrow("no");
  expect(heard).toBe(1);
  status = 403;
  await expect(transport.request("caller.get", {})).rejects.toThrow("no");
  expect(heard).toBe(1);
  const sockets = [4401, 4403, 1006].map((code) => {
    const socket = transport.socket("session.attach", { session_id: "ses_1" }, []);
    return { code, socket: socket as unknown as FakeSocket };
  });
  for (const { code, socket } of sockets) socket.end(code, "");
  expect(heard).toBe(2);
});
