import type { HostClient } from "#host/socket/client.ts";

/** The way to the host. A connection that ended is opened again by whoever asks next. */
export interface HostLink {
  connect(): Promise<HostClient>;
  /** The connection, if there is one now. */
  readonly current: HostClient | undefined;
}

/** For a process that has one connection and ends with it. */
export function createHostLink(client: HostClient): HostLink {
  return { connect: async () => client, current: client };
}

export interface HostLinkEvents {
  readonly connected: (client: HostClient) => void;
  readonly gone: () => void;
}

/** For a process that outlives hosts: one connection for all, opened when somebody needs it. */
export function openHostLink(
  open: () => Promise<HostClient>,
  events: HostLinkEvents,
): HostLink & Disposable {
  let connecting: Promise<HostClient> | undefined;
  let current: HostClient | undefined;
  let isDisposed = false;
  const connect = async () => {
    const client = await open();
    current = client;
    if (isDisposed) client[Symbol.dispose]();
    void client.closed.then(() => {
      connecting = undefined;
      current = undefined;
      if (!isDisposed) events.gone();
    });
    events.connected(client);
    return client;
  };
  return {
    get current() {
      return current;
    },
    connect: () => {
      connecting ??= connect().catch((error: unknown) => {
        connecting = undefined;
        throw error;
      });
      return connecting;
    },
    [Symbol.dispose]: () => {
      isDisposed = true;
      current?.[Symbol.dispose]();
    },
  };
}
