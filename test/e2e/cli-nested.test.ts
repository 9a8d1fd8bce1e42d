import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { isAlive } from "#test/harness/processes.ts";
import { type ListedSession, openReins, type Reins } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";

/** A terminal in which `reins run` starts another session, of this data directory if it is not the same one. */
async function nest(reins: Reins, command: string, home = reins.home): Promise<string> {
  const script = `REINS_HOME='${home}' reins ${command} -- sh -c 'echo deep inside; exec sleep 1000'`;
  return await reins.detach(["--tty", "--", "sh", "-c", `${script}; exec sleep 1000`]);
}

/** The session that was started inside, once it has begun. */
async function findInner(reins: Reins, outer?: string): Promise<ListedSession> {
  return await waitFor("the inner session begins", async () => {
    const inner = (await reins.sessions()).find(({ session_id }) => session_id !== outer);
    return inner !== undefined && inner.tail > 0 && inner;
  });
}

test.concurrent("closing the outer session leaves the host and the inner one alive", async () => {
  await using reins = await openReins();
  const outer = await nest(reins, "run --detach");
  const inner = await findInner(reins, outer);
  const pid = await reins.hostPid();
  expect(await reins.run(["close", outer])).toMatchObject({ code: 0 });
  expect((await reins.session(outer)).state).toMatchObject({ kind: "exited" });
  expect((await reins.session(inner.session_id)).state).toEqual({ kind: "running" });
  expect(isAlive(inner.pid)).toBe(true);
  expect(await reins.hostPid()).toBe(pid);
});

test.concurrent.each(rows({ few: ["run --detach"], full: ["run", "run --detach"] }))(
  "a second host, started inside a session by %s, outlives that session",
  async (command) => {
    await using outside = await openReins();
    await using inside = await openReins();
    const outer = await nest(outside, command, inside.home);
    const inner = await findInner(inside);
    const pid = await inside.hostPid();
    expect(pid).not.toBe(await outside.hostPid());
    expect(await outside.run(["close", outer])).toMatchObject({ code: 0 });
    expect(await inside.hostPid()).toBe(pid);
    expect((await inside.session(inner.session_id)).state).toEqual({ kind: "running" });
    expect(isAlive(inner.pid)).toBe(true);
  },
);

test.concurrent("a second host outlives the first one", async () => {
  await using outside = await openReins();
  await using inside = await openReins();
  await nest(outside, "run", inside.home);
  const inner = await findInner(inside);
  const pid = await inside.hostPid();
  expect(await outside.run(["host", "stop"])).toMatchObject({ code: 0 });
  expect(await inside.hostPid()).toBe(pid);
  expect((await inside.session(inner.session_id)).state).toEqual({ kind: "running" });
});

test.concurrent("many commands that start at once find one host", async () => {
  await using reins = await openReins();
  const runs = Array.from({ length: 6 }, (_, index) =>
    reins.start(["run", "--", "echo", `${index}`]),
  );
  const results = await Promise.all(runs.map(({ ended }) => ended));
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(results.map(({ stdout }) => stdout)).toEqual(["0\n", "1\n", "2\n", "3\n", "4\n", "5\n"]);
  expect(await reins.sessions()).toHaveLength(6);
});

test.concurrent("attach refuses the session that it runs in", async () => {
  await using reins = await openReins();
  const words = ["attach", "attach $REINS_SESSION_ID", "logs -f latest", "watch --to $$"];
  // The last one is a shell inside the outer one, which is shown there.
  const inner = `reins attach $REINS_SESSION_ID; echo is $?; reins run -- sh -c 'reins logs -f '$REINS_SESSION_ID; echo nested $?`;
  const script = `${words.map((word) => `reins ${word}; echo is $?`).join("; ")}; ${inner}; exec sleep 1000`;
  const id = await reins.detach(["--tty", "--", "sh", "-c", script]);
  const printed = await waitFor("all were refused", async () => {
    const { stdout } = await reins.run(["logs", id]);
    return stdout.includes("nested ") ? stdout : undefined;
  });
  const codes = [...printed.matchAll(/(?:is|nested) (\d+)/g)].map(([, code]) => code);
  expect(codes).toEqual(["8", "5", "8", "5", "5", "5"]);
  expect(printed.match(/cannot show/g)).toHaveLength(4);
});
