import { findOwnPackage } from "#base/own-package.ts";

export function version(): string {
  return findOwnPackage()?.version ?? "unknown";
}
