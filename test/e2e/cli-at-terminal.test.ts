import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { openReins, type Reins } from "#test/harness/reins.ts";

const { lease } = keepReins();

/** Everything that `reins` prints at a terminal of its own, which is a session of Reins, once it has printed this. */
async function printed(reins: Reins, id: string, wanted: string | RegExp): Promise<string> {
  return await waitFor(`${id} prints ${wanted}`, async () => {
    const { stdout } = await reins.run(["logs", id]);
    const isThere = typeof wanted === "string" ? stdout.includes(wanted) : wanted.test(stdout);
    return isThere ? stdout : undefined;
  });
}

/** A window's title, another screen, the mouse, no cursor. */
const SPOIL = String.raw`printf '\033]0;inside\007\033[?1049h\033[?1000h\033[?25lspoilt'`;
const SAVED = "\x1b[22;0t";
const RESTORED = "\x1b[0m\x1b[?25h\x1b[?1000l\x1b[?1049l\x1b]0;\x07\x1b[23;0t";

test("logs puts a terminal back as it was, at its end and at a signal", async () => {
  await using reins = await lease();
  const spoiling = await reins.detach(["--tty", "--", "sh", "-c", `${SPOIL}; exec sleep 1000`]);
  await printed(reins, spoiling, "spoilt");
  const once = await reins.detach(["--tty", "--", "reins", "logs", spoiling]);
  const whole = await printed(reins, once, /\[23;0t$/);
  expect(whole.startsWith(`${SAVED}\x1b]0;inside\x07`)).toBe(true);
  expect(whole.endsWith(`spoilt${RESTORED}`)).toBe(true);
  for (const [signal, code] of [
    ["INT", 0],
    ["TERM", 143],
  ] as const) {
    const following = await reins.detach(["--tty", "--", "reins", "logs", "-f", spoiling]);
    await printed(reins, following, "spoilt");
    expect(await reins.run(["signal", following, signal])).toMatchObject({ code: 0 });
    expect((await printed(reins, following, /\[23;0t/)).endsWith(RESTORED)).toBe(true);
    expect(await reins.run(["wait", following])).toMatchObject({ code });
  }
});

test.each([
  { how: "exits", script: "exit 3", said: "exited with code 3", code: 3 },
  { how: "dies by a signal", script: "kill -KILL $$", said: "ended by SIGKILL", code: 137 },
])("a terminal says how its program ended when it $how", async ({ script, said, code }) => {
  await using reins = await lease();
  const words = ["reins", "run", "--", "sh", "-c", `${SPOIL}; ${script}`];
  const id = await reins.detach(["--tty", "--", ...words]);
  const all = await printed(reins, id, `[reins: ${said}]`);
  const end = all.slice(all.indexOf("spoilt"));
  expect(end.replaceAll(/[\r\n]+/g, "\n")).toBe(`spoilt${RESTORED}\n[reins: ${said}]\n`);
  expect(await reins.run(["wait", id])).toMatchObject({ code });
});

test("host stop asks at a terminal before it ends what runs, and counts it", async () => {
  await using reins = await lease();
  await using other = await openReins();
  for (const _ of [1, 2]) await other.detach(["--", "sleep", "1000"]);
  const host = await other.hostPid();
  const stop = (...words: string[]) =>
    reins.detach([
      "--tty",
      "--",
      "env",
      `REINS_HOME=${other.home}`,
      "reins",
      "host",
      "stop",
      ...words,
    ]);
  const declined = await stop();
  await printed(reins, declined, "Stopping the host ends 2 sessions. Stop it? [y/N]");
  await reins.run(["send", "n", "--to", declined]);
  await printed(reins, declined, "The host was not stopped.");
  expect(await reins.run(["wait", declined])).toMatchObject({ code: 1 });
  expect(await other.hostPid()).toBe(host);
  const sure = await stop("--yes");
  expect(await printed(reins, sure, "ended")).toBe(
    "The host was stopped, and 2 sessions ended.\r\n",
  );
  expect(await other.hostPid()).toBeUndefined();
});
