// `npm test`: lint, types and the tests, then a look at what the run has left behind. `--fast` leaves the end-to-end
// tests out; `--page` and `--wide` run only those of the page and those that take long, `--changes` only the one that
// measures how soon a change is shown. The last line is always `N passed, N failed`.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWeb } from "./build-web.mjs";
import {
  adoptOrphans,
  endLeftProcesses,
  listSockets,
  removeDeadCgroups,
  removeLeftFiles,
  removeLeftSockets,
} from "./leftovers.mjs";
import { installPrograms } from "./system-packages.mjs";

/** Far beyond any honest run: what hangs for this long will never end. */
const RUN_LIMIT_MS = 30 * 60_000;

const root = fileURLToPath(new URL("..", import.meta.url));
/** The projects of vitest.config.ts that each kind of run has. */
const kinds = {
  fast: { projects: ["unit"], checksSources: true, needsPage: false },
  test: { projects: ["unit", "e2e"], checksSources: true, needsPage: true },
  page: { projects: ["page"], checksSources: false, needsPage: true },
  changes: { projects: ["page"], checksSources: false, needsPage: true },
  wide: { projects: ["wide", "e2e", "unit"], checksSources: false, needsPage: true },
};
const kindName = process.argv[2]?.replace(/^--/, "") ?? "test";
const kind = Object.hasOwn(kinds, kindName) ? kinds[kindName] : undefined;
if (kind === undefined) throw new Error(`unknown option "${process.argv[2]}"`);
/** The name of this run; short, because the path of a socket has to fit into 107 bytes. */
const run = `rt-${randomBytes(4).toString("hex")}`;
const runDir = join(tmpdir(), run);
const cacheDir = join(tmpdir(), `${run}-cache`);
const reportPath = join(cacheDir, "report.json");

const total = { passed: 0, failed: 0 };
const running = new Set();
let stopped = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    stopped = true;
    for (const child of running) child.kill(signal);
  });
}

const socketsBefore = listSockets();
for (const dir of [runDir, cacheDir]) mkdirSync(dir, { mode: 0o700 });
count("programs of the system", installPrograms());
await adoptOrphans((pid) => [...running].some((child) => child.pid === pid));
if (kind.needsPage) count("the page is built", await problemsOf(buildWeb()));
// Beside the tests, which wait about a third of their time.
const checks = kind.checksSources ? checkSources() : [];
await runTests();
for (const { name, problems } of await checks) count(name, problems);
count("nothing left behind", [
  ...(await endLeftProcesses(run)),
  ...removeLeftFiles(runDir),
  ...removeLeftSockets(socketsBefore),
]);
removeLeftFiles(cacheDir);
removeDeadCgroups();
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** Their output is printed when all of them are done. */
async function checkSources() {
  const programs = [
    ["lint", "biome", ["ci", "--diagnostic-level=warn", "--error-on-warnings"]],
    ["words", "node", ["scripts/voice.mjs"]],
    // In one thread: several check the same types again, at twice the CPU time, while the tests need the cores.
    ["types", "tsc", ["--singleThreaded"]],
    ["types of the page", "tsc", ["-p", "web", "--singleThreaded"]],
  ];
  const checked = [];
  for (const [name, program, args] of programs) {
    let printed = "";
    const end = await spawnProgram(program, args, {
      env: process.env,
      onOutput: (text) => {
        printed += text;
      },
    });
    checked.push({ name, problems: end === 0 ? [] : [`${program} ended with ${end}`, printed] });
  }
  return checked;
}

async function runTests() {
  const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${reportPath}`];
  args.push(...kind.projects.map((name) => `--project=${name}`));
  if (kindName === "wide") args.push("test/wide/", ...repeatedFiles());
  if (kindName === "changes") args.push("test/e2e/page/every-change.test.ts");
  const end = await spawnProgram("vitest", args, { env: testEnvironment() });
  const report = readReport();
  total.passed += report.passed;
  total.failed += report.failed;
  if (report.skipped > 0) process.stdout.write(`${report.skipped} skipped\n`);
  // An error outside of every test, or no tests at all.
  if (end !== 0 && report.failed === 0) count("tests", [`vitest ended with ${end}`]);
}

/** The tests of `npm test` that do something a few times there and many times here. */
function repeatedFiles() {
  return globSync("{src,test/e2e}/**/*.test.ts", { cwd: root }).filter((path) =>
    readFileSync(join(root, path), "utf8").includes("#test/harness/repeats.ts"),
  );
}

/** What a test makes without saying where lies in the run's own directory, and each of its processes carries its name. */
function testEnvironment() {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("REINS_"));
  return {
    ...Object.fromEntries(own),
    RT_RUN: run,
    ...(kindName === "wide" || kindName === "changes" ? { RT_REPEATS: "full" } : {}),
    TMPDIR: runDir,
    XDG_RUNTIME_DIR: runDir,
    XDG_STATE_HOME: join(runDir, "state"),
    XDG_CACHE_HOME: cacheDir,
    // For the children that are no `bin/reins`, which has it on by itself: each strips the types of its modules anew.
    NODE_COMPILE_CACHE: join(cacheDir, "node"),
  };
}

/** Answers the exit code, or the signal's name. `onOutput` gets what it would print otherwise. */
async function spawnProgram(program, args, { env, onOutput }) {
  if (stopped) return "nothing: the run was stopped";
  const output = onOutput === undefined ? "inherit" : "pipe";
  const child = spawn(join(root, "node_modules", ".bin", program), args, {
    cwd: root,
    env,
    stdio: ["ignore", output, output],
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", onOutput);
  const limit = setTimeout(() => child.kill("SIGKILL"), RUN_LIMIT_MS);
  const end = await endOf(child);
  clearTimeout(limit);
  return end;
}

async function endOf(child) {
  running.add(child);
  const { promise, resolve } = Promise.withResolvers();
  child.on("error", (error) => resolve(error.message));
  child.on("close", (code, signal) => resolve(code ?? signal));
  const end = await promise;
  running.delete(child);
  return end;
}

function readReport() {
  let report;
  try {
    report = JSON.parse(readFileSync(reportPath, "utf8"));
  } catch {
    // Vitest ended before it could write one; its exit says so.
    return { passed: 0, failed: 0, skipped: 0 };
  }
  const results = report.testResults.flatMap((file) => file.assertionResults);
  const withStatus = (status) => results.filter((result) => result.status === status).length;
  // A file that could not even be loaded has no test that failed.
  const broken = report.testResults.filter(
    (file) =>
      file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed"),
  );
  const passed = withStatus("passed");
  const failed = withStatus("failed");
  return {
    passed,
    failed: failed + broken.length,
    skipped: results.length - passed - failed,
  };
}

async function problemsOf(work) {
  return await work.then(
    () => [],
    (error) => [error.message],
  );
}

/** One check: passed when nothing was wrong. */
function count(name, problems) {
  if (problems.length === 0) total.passed += 1;
  else total.failed += 1;
  process.stdout.write(`${problems.length === 0 ? "ok" : "FAILED"}: ${name}\n`);
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
}
