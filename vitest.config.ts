import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Tests also wait for processes and files: one file more than there are cores keeps all of them busy. */
const WORKERS = Math.min(8, availableParallelism() + 1);

export default defineConfig({
  test: {
    // The umask, SIGCHLD and the working directory belong to a process, not to a thread.
    pool: "forks",
    maxWorkers: WORKERS,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: false,
    globalSetup: "test/harness/caller-home.ts",
    projects: [
      {
        extends: true,
        // One process after the other loads the same modules; these tests leave it as they found it.
        test: {
          name: "unit",
          include: ["{src,web,bench}/**/*.test.ts", "test/{arch,harness}/**/*.test.ts"],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: "test/harness/packaged.ts",
        },
      },
    ],
  },
});
