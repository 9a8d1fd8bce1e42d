import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOlderNode } from "#test/harness/older-node.ts";
import { type RunResult, runProgram } from "#test/harness/run-program.ts";
import { openTempDir, type TempDir } from "#test/harness/temp-dir.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const INSTALL_MS = 180_000;
const olderNode = findOlderNode();
/** What an outer npm tells its scripts about itself would lead the inner one to the outer's folders. */
const OUTER_NPM = /^npm_(?:package|lifecycle|config_prefix|config_local_prefix)/;

interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

/** One package for all, made and installed once, because that takes longest; each test has a copy of what it gives. */
let packed: Packed;
let packedIn: TempDir;
let installed: string;
beforeAll(async () => {
  packedIn = openTempDir();
  packed = await pack(packedIn);
  installed = join(packedIn.path, "app");
  mkdirSync(installed);
  writeFileSync(join(installed, "package.json"), '{ "private": true }');
  await npm(["install", "--prefer-offline", "--ignore-scripts", packed.tarball], installed);
}, INSTALL_MS);
afterAll(() => packedIn[Symbol.dispose]());

test("the package holds the bundle, the page, the examples and nothing else", () => {
  const { files } = packed;
  const expected =
    /^(bin\/reins(\.mjs)?|dist\/(main|host|agent|serve|client|embedded|[a-z]+-worker)\.js|dist\/chunks\/[\w-]+\.js|dist\/types\/(base|client|contract|daemon)\/[\w/.-]+\.d\.ts|dist\/web\/[\w./-]+|dist\/LICENSES\.txt|examples\/[\w./-]+|README\.md|LICENSE|package\.json)$/;
  expect(files.filter((path) => !expected.test(path) || path.includes("stamp"))).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      ...["bin/reins", "bin/reins.mjs", "dist/main.js", "README.md", "LICENSE"],
      ...["dist/host.js", "dist/agent.js", "dist/serve.js"],
      ...["dist/web/index.html", "dist/web/LICENSES.txt", "examples/hello.yaml"],
    ]),
  );
});

test("an installed package runs by itself", { timeout: INSTALL_MS }, async () => {
  await using app = await openApp();
  const version = await app.reins(["--version"]);
  expect(version).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  const listed = await app.reins(["ps", "--json"]);
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [] });
  // The host is started out of the bundle, too.
  const ran = await app.reins(["run", "--", "sh", "-c", "echo from the bundle; exit 5"]);
  expect(ran).toMatchObject({ code: 5, stdout: "from the bundle\n" });
});

/** What somebody writes who builds on Reins. */
const USER_PROGRAM = `
import { createClient, Fault } from "reins/client";

const [url = "", token = ""] = process.argv.slice(2);
const client = createClient({ url, token });
const { session_id } = await client.call("session.create", {
  kind: "terminal",
  argv: ["/bin/sh", "-c", "echo from the package; cat"],
});
const { matched } = await client.call("session.wait", {
  session_id, for: "regex", pattern: "from the \\\\w+", timeout_ms: 20_000,
});
const screen = await client.call("session.screen", { session_id });
await client.call("session.close", { session_id });
const refused: unknown = await client.call("session.get", { session_id: "ses_0000000000000000" }).catch((e) => e);
const code = refused instanceof Fault ? refused.code : "none";
console.log(JSON.stringify({ matched, line: "lines" in screen ? screen.lines[0] : "", code }));
`;

test("an installed package serves, and its client has types", { timeout: INSTALL_MS }, async () => {
  await using app = await openApp();
  await using server = await serve(app);
  writeFileSync(join(app.path, "use.mts"), USER_PROGRAM);
  const used = await runProgram([process.execPath, "use.mts", server.url, server.token], {
    cwd: app.path,
  });
  expect(used).toMatchObject({ code: 0 });
  expect(JSON.parse(used.stdout)).toEqual({
    matched: true,
    line: "from the package",
    code: "session_not_found",
  });
  expect(await checkTypes(app, ["use.mts"])).toMatchObject({ code: 0, stdout: "" });
  const page = await fetch(server.url);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<title>Reins")]);
  const listed = await fetch(`${server.url}/v1/teams`, {
    headers: { Authorization: `Bearer ${server.token}` },
  });
  expect(await listed.json()).toMatchObject({
    teams: expect.arrayContaining([expect.objectContaining({ name: "hello", example: true })]),
  });
});

const TEAM = {
  agents: {
    root: {
      model: "main",
      description: "Leads.",
      instruction: "Lead.",
      toolsets: [{ type: "shell" }],
    },
  },
  models: {
    main: {
      provider: "scripted",
      script: [
        { tool_calls: [{ tool: "execute", input: { command: "echo from the agent" } }] },
        { expect: { last_tool_result_contains: "from the agent" }, text: "It has run." },
      ],
    },
  },
};

/** What somebody writes whose agents are on a server. */
const AGENT_PROGRAM = `
import { createClient, openRemoteBackend } from "reins/client";

const [url = "", token = "", yaml = ""] = process.argv.slice(2);
const backend = openRemoteBackend(createClient({ url, token }));
const runtime = await backend.create({ source: { kind: "inline", yaml }, safety: "autonomous" });
const said: string[] = [];
for await (const { data } of runtime.run([{ content: "Go." }]))
  if (data.type === "message.end") said.push(data.text);
console.log(JSON.stringify(said));
`;

/** What somebody writes whose agents are in the process itself. */
const EMBEDDED_PROGRAM = `
import { openEmbedded } from "reins/embedded";

const [data_dir = "", tools = "", yaml = ""] = process.argv.slice(2);
await using backend = openEmbedded({ data_dir, tools: tools === "host" ? "host" : "none", env: process.env });
await using runtime = await backend.create({ source: { kind: "inline", yaml }, safety: "autonomous" });
for await (const { data } of runtime.run([{ content: "Go." }]))
  if (data.type === "tool.result") console.log(data.is_error, data.output);
`;

test("an installed package runs agents, behind its server and in the process of another", {
  timeout: INSTALL_MS,
}, async () => {
  await using app = await openApp();
  await using server = await serve(app);
  const team = JSON.stringify(TEAM);
  writeFileSync(join(app.path, "remote.mts"), AGENT_PROGRAM);
  writeFileSync(join(app.path, "embedded.mts"), EMBEDDED_PROGRAM);
  const run = (argv: readonly string[]) =>
    runProgram([process.execPath, ...argv, team], { cwd: app.path });
  const remote = await run(["remote.mts", server.url, server.token]);
  expect(remote).toMatchObject({ code: 0, stdout: '["","It has run."]\n' });
  const alone = await run(["embedded.mts", app.home, "none"]);
  expect(alone).toMatchObject({ code: 0 });
  expect(alone.stdout).toMatch(/^true .*embedded without a host/);
  const onHost = await run(["embedded.mts", app.home, "host"]);
  expect(onHost).toMatchObject({ code: 0, stderr: "" });
  expect(onHost.stdout).toMatch(/^false .*from the agent/s);
  const checked = await checkTypes(app, ["remote.mts", "embedded.mts"]);
  expect(checked).toMatchObject({ code: 0, stdout: "" });
});

test("kill -9 of the process that was started ends an installed server", {
  timeout: INSTALL_MS,
}, async () => {
  await using app = await openApp();
  await using server = await serve(app);
  expect((await fetch(`${server.url}/v1/health`)).status).toBe(200);
  await server.kill();
  await expect(fetch(`${server.url}/v1/health`)).rejects.toThrow();
});

test.skipIf(olderNode === undefined)(
  "an installed package tells an older Node what it needs",
  { timeout: INSTALL_MS },
  async () => {
    await using app = await openApp();
    const refused = await app.reins(["--version"], { node: olderNode ?? "" });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^reins needs Node 24\.12 or newer; \S+ is v\S+\. Install .*: npm install -g node@24\n$/,
    );
    symlinkSync(join(root, "node_modules", "node"), join(app.path, "node_modules", "node"));
    const again = await app.reins(["--version"], { node: olderNode ?? "" });
    expect(again).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
  },
);

interface App extends AsyncDisposable {
  readonly path: string;
  readonly home: string;
  readonly bin: string;
  reins(args: readonly string[], options?: { readonly node?: string }): Promise<RunResult>;
}

/** A folder of somebody who has installed the package, and a home that nobody else uses. */
async function openApp(): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTempDir());
  const path = join(dir.path, "app");
  // The links of its programs stay as npm made them.
  cpSync(installed, path, { recursive: true, verbatimSymlinks: true });
  const home = join(dir.path, "home");
  const bin = join(path, "node_modules", ".bin", "reins");
  const reins: App["reins"] = (args, { node = process.execPath } = {}) =>
    runProgram([bin, ...args], { cwd: path, env: { ...withNode(node), REINS_HOME: home } });
  stack.defer(async () => void (await reins(["host", "stop"])));
  const owned = stack.move();
  return { path, home, bin, reins, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The environment in which `node` is this one. */
function withNode(node: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
}

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** With SIGKILL, of the process that was started. */
  kill(): Promise<void>;
}

async function serve(app: App): Promise<Server> {
  const serving = spawn(app.bin, ["serve", "--listen", "127.0.0.1:0", "--json"], {
    env: { ...withNode(process.execPath), REINS_HOME: app.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(serving, "exit").then(([code]) => [`{"exit": ${code}}`]);
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => {
    serving.kill("SIGTERM");
    await exited;
  });
  const [line] = await Promise.race([once(createInterface(serving.stdout), "line"), exited]);
  const { listening } = JSON.parse(String(line));
  const token = readFileSync(join(app.home, "token"), "utf8").trim();
  const owned = stack.move();
  const kill = async () => {
    serving.kill("SIGKILL");
    await exited;
  };
  return { url: listening, token, kill, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** With whatever declarations the package has brought. */
function checkTypes(app: App, files: readonly string[]): Promise<RunResult> {
  symlinkSync(join(root, "node_modules", "@types"), join(app.path, "node_modules", "@types"));
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "esnext"];
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  return runProgram([process.execPath, tsc, ...options, "--types", "node", ...files], {
    cwd: app.path,
  });
}

/** In a copy, so that the checkout's own dist/ stays as it is. */
async function pack(dir: TempDir): Promise<Packed> {
  const copy = join(dir.path, "copy");
  const projects = ["tsconfig.json", "tsconfig.client.json", "tsconfig.embedded.json"];
  const names = ["bin", "scripts", "src", "web", "examples"];
  const files = ["package.json", "package-lock.json", "README.md", "LICENSE"];
  for (const name of [...names, ...files, ...projects]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const { stdout } = await npm(["pack", "--json", "--pack-destination", dir.path], copy);
  const [made] = JSON.parse(stdout.slice(stdout.indexOf("[\n")));
  return {
    tarball: join(dir.path, made.filename),
    files: made.files.map((file: { path: string }) => file.path),
  };
}

async function npm(args: readonly string[], cwd: string): Promise<RunResult> {
  const own = Object.entries(process.env).filter(([name]) => !OUTER_NPM.test(name));
  // Its cache would lie in the temporary directory for ever.
  const env = { ...Object.fromEntries(own), NODE_DISABLE_COMPILE_CACHE: "1" };
  const quiet = ["--no-audit", "--no-fund", "--logs-max=0"];
  const result = await runProgram(["npm", ...args, ...quiet], { cwd, env });
  if (result.code !== 0) throw new Error(`npm ${args.join(" ")}: ${result.stderr}`);
  return result;
}
