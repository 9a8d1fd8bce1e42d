// `node scripts/screenshots.mjs`: the pictures of docs/images, taken from the running product: a real host, gateway,
// shell and agent on the scripted model, in the system's Chromium.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { buildWeb } from "./build-web.mjs";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const root = fileURLToPath(new URL("..", import.meta.url));
const images = join(root, "docs", "images");
const scratch = mkdtempSync(join(tmpdir(), "reins-pictures-"));
const home = join(scratch, "home");
const project = join(scratch, "shop");
const env = { ...process.env, REINS_HOME: home, HOME: scratch };

mkdirSync(images, { recursive: true });
mkdirSync(project);
writeFileSync(join(project, "cart.py"), "def total(items):\n    return sum(items)\n");
spawnSync("git", ["init", "-q", project]);
await buildWeb();

const gateway = spawn(
  process.execPath,
  [join(root, "bin/reins"), "serve", "--json", "--listen", "127.0.0.1:0"],
  { env, cwd: project, stdio: ["ignore", "pipe", "inherit"] },
);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
});
try {
  const url = await readAddress();
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const call = (method, path, body) => request(`${url}${path}`, { method, token, body });
  const made = await furnish(call);
  for (const { name, path, look, ready } of picturesOf(made))
    await take({ url, call, name, path, look, ready });
} finally {
  await browser.close();
  gateway.kill("SIGTERM");
  spawnSync(process.execPath, [join(root, "bin/reins"), "host", "stop"], { env });
  rmSync(scratch, { recursive: true, force: true });
}

async function readAddress() {
  for await (const line of createInterface(gateway.stdout)) return JSON.parse(line).listening;
  throw new Error("the gateway did not start");
}

async function request(address, { method, token, body }) {
  const response = await fetch(address, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${address}: ${await response.text()}`);
  return await response.json();
}

/** Sessions as somebody has them on an ordinary day. */
async function furnish(call) {
  const start = (fields) => call("POST", "/v1/sessions", { work_dir: project, ...fields });
  const shell = await start({
    kind: "terminal",
    title: "shop",
    argv: ["bash", "--norc"],
    env: { PS1: "$ " },
  });
  await start({
    kind: "terminal",
    title: "tests, again and again",
    command:
      "for i in 1 2 3; do echo \"PASS cart $i\"; done; echo '42 passed, 0 failed'; sleep 1000",
  });
  await start({ kind: "command", title: "build", command: "echo 'built in 3.2 s'" });
  await start({ kind: "command", title: "deploy", command: "echo 'no such host' >&2; exit 2" });
  await start({
    kind: "terminal",
    title: "release notes",
    command: "printf 'Writing CHANGELOG.md… 3 of 7\\n'; sleep 1000",
  });
  const agent = await call("POST", "/v1/session/create", {
    source: {
      kind: "inline",
      yaml: readFileSync(join(root, "scripts/pictures-team.yaml"), "utf8"),
    },
    working_dir: project,
    title: "Fix the cart's total",
  });
  const { session_id } = agent;
  await call("POST", `/v1/sessions/${session_id}/messages`, {
    messages: [{ content: "The total is wrong when a price is a string. Please fix it." }],
  });
  await call("POST", `/v1/sessions/${session_id}/wait`, {
    for: "needs_answer",
    timeout_ms: 30_000,
  });
  await type(call, shell.session_id);
  return { shell, agent };
}

async function type(call, sessionId) {
  for (const line of ["ls -la --color=always", "git status --short --branch", "cat cart.py"])
    await call("POST", `/v1/sessions/${sessionId}/input`, { data: `${line}\n` });
  await call("POST", `/v1/sessions/${sessionId}/wait`, {
    for: "text",
    text: "return sum",
    timeout_ms: 30_000,
  });
}

function picturesOf({ shell, agent }) {
  const hasText = (text) => (page) => page.getByText(text).first().waitFor();
  const list = (page) => page.getByRole("treegrid", { name: "Sessions" }).waitFor();
  const asks = hasText("Edit cart.py?");
  const [terminal, talk] = [`/s/${shell.session_id}`, `/s/${agent.session_id}`];
  const light = { viewport: WIDE, colorScheme: "light" };
  const dark = { viewport: WIDE, colorScheme: "dark" };
  const phone = { viewport: PHONE, colorScheme: "light", hasTouch: true, isMobile: true };
  return [
    { name: "sessions-light", path: "/", look: light, ready: list },
    { name: "sessions-dark", path: "/", look: dark, ready: list },
    { name: "terminal-dark", path: terminal, look: dark, ready: hasText("return sum") },
    { name: "agent-light", path: talk, look: light, ready: asks },
    { name: "phone-approval", path: talk, look: phone, ready: asks },
  ];
}

async function take({ url, call, name, path, look, ready }) {
  const context = await browser.newContext({ ...look, deviceScaleFactor: 2 });
  const page = await context.newPage();
  const { ticket } = await call("POST", "/v1/tickets", {});
  await page.goto(`${url}/#ticket=${ticket}&to=${encodeURIComponent(path)}`);
  await ready(page);
  // What the list shows of each session comes a moment after it.
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await context.close();
  process.stdout.write(`docs/images/${name}.png\n`);
}
