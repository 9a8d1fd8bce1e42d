import { onlyHost } from "#session/local-host.ts";
import type { SessionHost, SessionHosts } from "#session/session-host.ts";

/** The same hosts, with some methods replaced by the test. */
export function hostsWith(hosts: SessionHosts, own: Partial<SessionHost>): SessionHosts {
  const [host] = hosts.all();
  return onlyHost({
    get state() {
      return host.state;
    },
    get followed() {
      return host.followed;
    },
    connect: () => host.connect(),
    call: (method, params) => host.call(method, params),
    knows: (feature) => host.knows(feature),
    health: () => host.health(),
    open: (sessionId) => host.open(sessionId),
    find: (sessionId) => host.find(sessionId),
    attach: (request) => host.attach(request),
    watchAll: (listener) => host.watchAll(listener),
    ...own,
  });
}
