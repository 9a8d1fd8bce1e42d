import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openBrowser, type TestBrowser, type Visit, type VisitOptions } from "./browser.ts";
import { waitFor } from "./eventually.ts";
import type { Door } from "./gateway.ts";
import { type GatewayProcess, openGatewayProcess } from "./gateway-process.ts";
import { openTestHost, type TestHost } from "./host.ts";

const WAIT_MS = 30_000;

/** A real host, a real `reins serve` with the built page, and a real browser. */
export interface PageWorld extends AsyncDisposable {
  readonly host: TestHost;
  readonly door: Door;
  readonly browser: TestBrowser;
  visit(options?: Partial<VisitOptions>): Promise<Visit>;
  killGateway(): Promise<void>;
  /** At the same address. */
  startGateway(): Promise<void>;
}

export async function openPageWorld(
  args: readonly string[] = [],
  { config }: { readonly config?: string } = {},
): Promise<PageWorld> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const { dataDir } = host;
  if (config !== undefined) writeFileSync(join(dataDir, "config.yaml"), config);
  let gateway: GatewayProcess = await openGatewayProcess({ dataDir, args });
  stack.defer(() => gateway[Symbol.asyncDispose]());
  const { door, port } = gateway;
  const browser = stack.use(await openBrowser());
  const owned = stack.move();
  return {
    host,
    door,
    browser,
    visit: (options = {}) => browser.visit({ door, ...options }),
    killGateway: () => gateway.kill("SIGKILL"),
    startGateway: async () => {
      gateway = await openGatewayProcess({ dataDir, port, args });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What stands on the screen of the terminal that is shown, without the blanks at the ends of lines. */
export async function readScreen(page: Page): Promise<string> {
  const rows = await page.locator(".xterm-rows > div").allInnerTexts();
  const lines = rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd());
  return lines.join("\n").trimEnd();
}

export async function screenShows(page: Page, text: string | RegExp): Promise<string> {
  const shows = (screen: string) =>
    typeof text === "string" ? screen.includes(text) : text.test(screen);
  let last = "";
  return await waitFor(
    `the terminal shows ${text}`,
    async () => {
      last = await readScreen(page);
      return shows(last) ? last : undefined;
    },
    { timeout: WAIT_MS },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it shows:\n${last}`, { cause: error });
  });
}

/** Through the palette, as somebody without a mouse would. */
export async function perform(page: Page, title: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  const palette = page.getByRole("dialog", { name: "Palette" });
  await palette.getByRole("combobox").fill(title);
  await palette.getByRole("option", { name: title }).first().click();
  await palette.waitFor({ state: "hidden" });
}
