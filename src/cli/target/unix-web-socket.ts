import { WebSocket } from "ws";
import type { SocketClass } from "#client/transport.ts";

/** What the typed client gives in place of the protocols when it has a token. */
interface SocketInit {
  readonly protocols: string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** WebSockets over a unix socket: Node's own connects to none. */
export function createUnixWebSocket(socketPath: string): SocketClass {
  class UnixWebSocket extends WebSocket {
    constructor(url: string, { protocols, headers }: SocketInit) {
      const { pathname, search } = new URL(url);
      const address = `ws+unix:${socketPath}:${pathname}${search}`;
      super(address, protocols, { headers, perMessageDeflate: false });
    }
  }
  // As much of a WebSocket as the client uses; its types for listeners are narrower.
  return UnixWebSocket as unknown as SocketClass;
}
