import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { openTempGateway, type TempGateway } from "#bench/gateway/temp-gateway.ts";
import { median, percentile } from "#bench/lib/statistics.ts";
import type { Row, RowOptions } from "#bench/row.ts";
import { openBrowser, type TestBrowser } from "#test/harness/browser.ts";
import { type Door, openDoor } from "#test/harness/gateway.ts";

const SESSIONS = 1000;
const BUNDLE_KIB = 250;
const FLOOD_SECONDS = 60;
const CLICK_EVERY_MS = 500;
const SCROLL_FRAMES = 120;
const CREATED_AT_ONCE = 20;

/** The page in a real browser, over a real gateway. It has no peer to be compared with but itself at rest. */
export async function measurePage(options: RowOptions): Promise<Row[]> {
  await using gateway = await openTempGateway();
  await using browser = await openBrowser();
  const door = openDoor(gateway.url, gateway.token);
  return [
    ...(await measureFirstView(browser, door, options)),
    ...(await measureFlood(browser, { door, gateway }, options)),
    ...(await measureScrolling(browser, { door, gateway })),
  ];
}

async function measureFirstView(
  browser: TestBrowser,
  door: Door,
  { runs }: RowOptions,
): Promise<Row[]> {
  const times: number[] = [];
  const bare: number[] = [];
  let loaded: string[] = [];
  for (let run = 0; run < runs; run += 1) {
    // A context of its own has nothing in its cache but the cookie.
    await using visit = await browser.visit({ door });
    const { page } = visit;
    bare.push(await timeTo(page, `${door.url}/v1/health`, "body"));
    times.push(await timeTo(page, `${door.url}/?${run}#/`, "[role=treegrid], main h2"));
    loaded = await page.evaluate(
      "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
    );
  }
  const kib = loaded.map(gzippedKib).reduce((sum, size) => sum + size, 0);
  return [
    {
      what: `page: cold to the first view (${runs} runs)`,
      measured: `p50 ${median(times).toFixed(0)} ms`,
      against: `an empty document of the same server: ${median(bare).toFixed(0)} ms`,
      ratio: median(times) / median(bare),
    },
    {
      what: "page: what the first view loads, gzipped",
      measured: `${kib.toFixed(0)} KiB`,
      against: "",
      judged: kib,
      target: { at_most: BUNDLE_KIB, unit: "KiB" },
    },
  ];
}

async function timeTo(page: Page, address: string, shown: string): Promise<number> {
  const started = performance.now();
  await page.goto(address);
  await page.locator(shown).first().waitFor();
  return performance.now() - started;
}

function gzippedKib(path: string): number {
  const file = fileURLToPath(new URL(`../../dist/web${path}`, import.meta.url));
  return path.startsWith("/v1/") ? 0 : gzipSync(readFileSync(file)).length / 1024;
}

interface Place {
  readonly door: Door;
  readonly gateway: TempGateway;
}

/** A click to the frame after what it changed, and the memory of the page, while a terminal prints without end. */
async function measureFlood(
  browser: TestBrowser,
  { door, gateway }: Place,
  { seconds = FLOOD_SECONDS }: RowOptions,
): Promise<Row[]> {
  const id = await gateway.create({ kind: "terminal", argv: ["bash", "-c", "read -r; exec yes"] });
  await using visit = await browser.visit({ door, path: `/s/${id}` });
  const { page } = visit;
  await page.getByText("You have control", { exact: true }).waitFor();
  const idle = await timeClicks(page, 10);
  const before = await heapMib(page);
  await page.keyboard.press("Enter");
  const busy = await timeClicks(page, Math.round((seconds * 1000) / CLICK_EVERY_MS));
  const after = await heapMib(page);
  await page.keyboard.press("Control+C");
  return [
    {
      what: `page: a click while \`yes\` prints for ${seconds} s`,
      measured: `p50 ${median(busy).toFixed(0)}, p95 ${percentile(busy, 0.95).toFixed(0)} ms`,
      against: `the same click at rest: p50 ${median(idle).toFixed(0)} ms`,
      ratio: median(busy) / median(idle),
    },
    {
      what: `page: its heap after ${seconds} s of \`yes\``,
      measured: `${after.toFixed(0)} MiB`,
      against: `before: ${before.toFixed(0)} MiB`,
      ratio: after / before,
    },
  ];
}

const CLICK = `new Promise((resolve) => {
  const button = [...document.querySelectorAll("button")].find((one) =>
    ["Search in the terminal", "Close the search"].includes(one.getAttribute("aria-label")));
  const started = performance.now();
  button.click();
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - started)));
})`;

async function timeClicks(page: Page, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let click = 0; click < count; click += 1) {
    times.push(await page.evaluate(CLICK));
    await sleep(CLICK_EVERY_MS);
  }
  // The terminal has the keys again.
  await page.locator(".xterm").click();
  return times;
}

async function heapMib(page: Page): Promise<number> {
  const debug = await page.context().newCDPSession(page);
  await debug.send("HeapProfiler.collectGarbage");
  const { usedSize } = await debug.send("Runtime.getHeapUsage");
  await debug.detach();
  return usedSize / 1024 / 1024;
}

const SCROLL = `new Promise((resolve) => {
  const grid = document.querySelector("[role=treegrid]");
  let box = grid;
  while (box !== null && box.scrollHeight <= box.clientHeight + 1) box = box.parentElement;
  const frames = [];
  let last = performance.now();
  const step = () => {
    const now = performance.now();
    frames.push(now - last);
    last = now;
    if (STEP > 0) box.scrollTop += STEP;
    if (frames.length < ${SCROLL_FRAMES}) requestAnimationFrame(step);
    else resolve(frames.slice(2));
  };
  requestAnimationFrame(step);
})`;

async function measureScrolling(browser: TestBrowser, { door, gateway }: Place): Promise<Row[]> {
  for (let made = 0; made < SESSIONS; made += CREATED_AT_ONCE)
    await Promise.all(
      Array.from({ length: CREATED_AT_ONCE }, () =>
        gateway.create({ kind: "command", argv: ["true"] }),
      ),
    );
  await using visit = await browser.visit({ door });
  const { page } = visit;
  await page.getByRole("button", { name: /All \d{4}/ }).waitFor();
  const still: number[] = await page.evaluate(SCROLL.replaceAll("STEP", "0"));
  const moving: number[] = await page.evaluate(SCROLL.replaceAll("STEP", "200"));
  return [
    {
      what: `page: a frame while ${SESSIONS} sessions are scrolled, 200 px each`,
      measured: `p50 ${median(moving).toFixed(1)}, p95 ${percentile(moving, 0.95).toFixed(1)} ms`,
      against: `at rest: p50 ${median(still).toFixed(1)} ms`,
      ratio: median(moving) / median(still),
    },
  ];
}
