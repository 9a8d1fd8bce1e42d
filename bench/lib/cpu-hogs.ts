import { spawn } from "node:child_process";
import { once } from "node:events";
import { owned } from "./owned.ts";

/** So many processes that never rest, so that nothing else of the machine gets its turn at once. */
export function openCpuHogs(count: number): AsyncDisposable {
  const hogs = Array.from({ length: count }, () =>
    spawn("/bin/sh", ["-c", "while :; do :; done"], { stdio: "ignore" }),
  );
  return owned(async () => {
    for (const hog of hogs) {
      if (hog.exitCode !== null || hog.signalCode !== null) continue;
      hog.kill("SIGKILL");
      await once(hog, "exit");
    }
  });
}
