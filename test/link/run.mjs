// `npm run test:link -- slow|cut [files]`: the end-to-end tests with a connection in memory between every client of a host
// and the host's socket. `slow` delays each piece by 20 ms and splits every write; `cut` ends each connection every 5 s.
// The tests that claim something about the connection itself are left out in `cut`: test/link/exceptions.json
// lists their titles, each with its reason.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [mode, ...files] = process.argv.slice(2);
if (mode !== "slow" && mode !== "cut")
  throw new Error("usage: npm run test:link -- slow|cut [files]");
const exceptions = JSON.parse(readFileSync(`${root}/test/link/exceptions.json`, "utf8"));
const titles = Object.keys(exceptions[mode] ?? {}).map((title) => title.replace(/[^\w\s]/g, "."));
const without = titles.length === 0 ? [] : ["-t", `^(?!.*(?:${titles.join("|")}))`];
const preload = pathToFileURL(`${root}/test/link/preload.ts`).href;
const { status } = spawnSync(
  process.execPath,
  [`${root}/node_modules/vitest/vitest.mjs`, "run", "--project", "e2e", ...without, ...files],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      REINS_TEST_LINK: mode,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${preload}`.trim(),
    },
  },
);
process.exitCode = status ?? 1;
