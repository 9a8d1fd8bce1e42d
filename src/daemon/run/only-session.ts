import type { Gateway, GatewayOperations } from "#app/gateway.ts";
import { Fault } from "#contract/fault.ts";

/** What is about the session; the rest is said to be elsewhere. */
export function createOnlyGateway(gateway: Gateway): Gateway {
  return {
    ...gateway,
    operations: (caller) => keepOwn(gateway.operations(caller)),
    exchangeTicket: () => {
      throw notHere();
    },
  };
}

const OWN = /^(sessions?|agent|caller)\./;

function keepOwn(operations: GatewayOperations): GatewayOperations {
  const kept = Object.entries(operations).map(([name, handler]) => [
    name,
    OWN.test(name) ? handler : refuse,
  ]);
  // The same names, each with its own handler or one that only throws.
  return Object.fromEntries(kept) as GatewayOperations;
}

async function refuse(): Promise<never> {
  throw notHere();
}

function notHere(): Fault {
  return new Fault("unsupported", "this address serves one run alone; reins serve serves all");
}
