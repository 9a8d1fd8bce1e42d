import { expect, test } from "vitest";
import { describeStart } from "./serve-words.ts";

const started = {
  url: "http://127.0.0.1:7347",
  address: "http://127.0.0.1:7347/#ticket=reins_ticket_x",
  takenPort: 7346,
  dataDir: "/home/ada/.local/state/reins",
};

test("at a terminal a server shows one address, and how to sign in again and stop", () => {
  expect(
    describeStart({ ...started, isTerminal: true }),
  ).toBe(`Reins is running on 127.0.0.1:7347, because port 7346 is in use. Open this address in your browser:

  http://127.0.0.1:7347/#ticket=reins_ticket_x

The address signs in one browser and is valid for one minute. For a new one, run: reins open
Your data is in /home/ada/.local/state/reins.
Press Ctrl-C to stop the server. Your sessions keep running.
`);
});

test("in a pipe a server says where it listens and what to open on lines of their own", () => {
  const lines = describeStart({ ...started, takenPort: undefined, isTerminal: false }).split("\n");
  expect(lines.slice(0, 2)).toEqual([
    "reins listens on http://127.0.0.1:7347",
    "open http://127.0.0.1:7347/#ticket=reins_ticket_x",
  ]);
});
