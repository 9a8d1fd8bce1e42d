import { expect, test } from "vitest";
import { addressOfPage } from "#cli/admin/page-address.ts";
import { findBrowser } from "./open.ts";

const desk = { platform: "linux", env: { DISPLAY: ":0" }, isTerminal: true } as const;

test.each([
  ["a display of X", desk, "xdg-open"],
  ["a display of Wayland", { ...desk, env: { WAYLAND_DISPLAY: "wayland-0" } }, "xdg-open"],
  ["a Mac", { ...desk, platform: "darwin", env: {} }, "open"],
  ["no display", { ...desk, env: { DISPLAY: "" } }, undefined],
  ["a pipe", { ...desk, isTerminal: false }, undefined],
  ["another machine", { ...desk, env: { ...desk.env, SSH_CONNECTION: "1 2 3 4" } }, undefined],
  [
    "a Mac that is another machine",
    { ...desk, platform: "darwin", env: { SSH_CONNECTION: "1" } },
    undefined,
  ],
] as const)("on %s a page is shown by %s", (_where, where, program) => {
  expect(findBrowser(where)).toBe(program);
});

test("a ticket stands behind the #, where no server sees it", () => {
  for (const url of ["http://127.0.0.1:7346", "http://127.0.0.1:7346/"])
    expect(addressOfPage(url, "reins_ticket_x")).toBe(
      "http://127.0.0.1:7346/#ticket=reins_ticket_x",
    );
});
