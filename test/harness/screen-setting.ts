import { createScreenOperations } from "#app/read/screen.ts";
import { openScreens } from "#screen/screens.ts";
import { createLocalHosts } from "#session/local-host.ts";
import { createTestCaller } from "./caller.ts";
import { waitFor } from "./eventually.ts";
import { openTestHost, type TestHost } from "./host.ts";

/** Screens of a real host. */
export async function openScreenSetting(options: { readonly warmStepBytes?: number } = {}) {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await openTestHost());
  const { hosts, screens, screen, ...rest } = stack.use(openScreensOf(host, options));
  const owned = stack.move();
  const tail = async (session_id: string) =>
    (await host.operations["session.get"]({ session_id })).tail;
  return {
    ...rest,
    host,
    hosts,
    screens,
    screen,
    tail,
    open: (script: string, size: { readonly cols?: number; readonly rows?: number } = {}) =>
      host.create({ kind: "terminal", argv: ["/bin/sh", "-c", `stty -echo; ${script}`], ...size }),
    until: (session_id: string, text: string | undefined) =>
      waitFor(`${text} on the screen`, async () => {
        const found = await screen({ session_id });
        if (text === undefined) return found.offset > 0;
        return "lines" in found && found.lines.some((line) => line.includes(text));
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function openScreensOf(host: TestHost, options: { readonly warmStepBytes?: number } = {}) {
  const hosts = createLocalHosts(host.client, host.sessions);
  const screens = openScreens({ hosts, ...options });
  const operations = createScreenOperations({ hosts, screens }, createTestCaller());
  return {
    hosts,
    screens,
    screen: operations["session.screen"],
    [Symbol.asyncDispose]: () => screens[Symbol.asyncDispose](),
  };
}
