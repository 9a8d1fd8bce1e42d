import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { Door } from "./gateway.ts";

/** A busy machine takes its time; nothing waits longer than it has to. */
const WAIT_MS = 30_000;

/** Without them a browser of the system looks for its maker's servers. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export interface VisitOptions {
  readonly door: Door;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  /** A finger instead of a mouse. */
  readonly hasTouch?: boolean;
  /** Behind the `#`. */
  readonly path?: string;
  /** Complaints of the browser that belong to this test. */
  readonly expected?: RegExp;
}

/** One person with a browser of their own: no cookie is shared with another. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors, refusals of the page's policy, requests to elsewhere. */
  readonly complaints: readonly string[];
  goTo(path: string): Promise<void>;
}

export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser;
  /** Comes in by a ticket, as a person does. Its end fails if the browser complained. */
  visit(options: VisitOptions): Promise<Visit>;
}

export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: QUIET,
    // Its settings stay in memory: it would leave a file of theirs behind.
    env: { ...process.env, GSETTINGS_BACKEND: "memory" },
  });
  return {
    browser,
    visit: (options) => visit(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Debian's; the test command installs it where it may. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

function findChromium(): string {
  const found = PLACES.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`there is no browser at ${PLACES.join(", ")}`);
  return found;
}

async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { door, viewport = WIDE, colorScheme = "light", hasTouch = false } = options;
  const context = await browser.newContext({
    viewport,
    colorScheme,
    hasTouch,
    isMobile: hasTouch,
    permissions: ["clipboard-read", "clipboard-write"],
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  watch(page, door.url, (complaint) => {
    if (options.expected?.test(complaint) !== true) complaints.push(complaint);
  });
  await page.goto(await ticketAddress(door, options.path));
  await page.getByRole("main").waitFor();
  return {
    page,
    context,
    complaints,
    goTo: async (path) => {
      await page.goto(`${door.url}/#${path}`);
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      if (complaints.length > 0) throw new Error(`the browser says:\n${complaints.join("\n")}`);
    },
  };
}

/** A new one each time: it works once. */
export async function ticketAddress(door: Door, path = "/"): Promise<string> {
  const { ticket } = await door.get("ticket.create", {});
  return `${door.url}/#ticket=${ticket}&to=${encodeURIComponent(path)}`;
}

function watch(page: Page, url: string, complain: (complaint: string) => void): void {
  page.on("pageerror", (error) => complain(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complain(`${message.type()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (/^(?:https?|wss?):$/.test(asked.protocol) && asked.host !== new URL(url).host)
      complain(`a request to ${request.url()}`);
  });
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeRule {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly failureSummary: string;
  }[];
}

/** What keeps people out of the view as it is, a line each. */
export async function findBarriers(page: Page): Promise<string[]> {
  // Through the debugger: the page's own policy lets no foreign script in. It stays until the page is loaded anew.
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe);
  const rules: readonly AxeRule[] = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return rules.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id} (${help}): ${target.join(" ")}\n${failureSummary}`,
    ),
  );
}
