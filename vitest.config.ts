import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Tests also wait for processes and files: two files more than there are cores keep all of them busy. */
const WORKERS = Math.min(8, availableParallelism() + 2);

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
          exclude: ["test/e2e/page/**"],
          isolate: false,
          globalSetup: "test/harness/packaged.ts",
        },
      },
      // `npm run test:page`: the whole page in a real browser. A visit to each of its views is in `npm test`.
      {
        extends: true,
        test: {
          name: "page",
          include: ["test/e2e/page/**/*.test.ts"],
          globalSetup: "test/harness/packaged.ts",
        },
      },
      // `npm run soak -- --only tests`: what takes too long for `npm test`.
      {
        extends: true,
        test: {
          name: "wide",
          include: ["test/wide/**/*.test.ts"],
          globalSetup: "test/harness/packaged.ts",
        },
      },
    ],
  },
});
