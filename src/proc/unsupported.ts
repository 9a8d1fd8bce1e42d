import { Fault } from "#contract/fault.ts";
import type { Spawner } from "./child.ts";

export function unsupportedSpawner(fault: Fault): Spawner & Disposable {
  return {
    spawn() {
      throw fault;
    },
    adopt() {
      throw fault;
    },
    endLeftovers: () => Promise.resolve([]),
    [Symbol.dispose]: () => undefined,
  };
}

export function unsupportedOs(message: string, cause?: unknown): Fault {
  return new Fault("unsupported_os", message, {
    details: { platform: process.platform, arch: process.arch },
    cause,
  });
}
