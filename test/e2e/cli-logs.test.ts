import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/harness/eventually.ts";
import { keepReins } from "#test/harness/kept-reins.ts";
import { type Reins, succeed } from "#test/harness/reins.ts";

const { lease } = keepReins();

/** Prints `one`, waits for the file `go`, prints `two` and ends. */
const TWO_STEPS = "echo one; until test -e go; do sleep 0.02; done; echo two; echo err >&2; exit 3";

/** A session that has ended, with `0123456789` as its output. */
async function openEnded(reins: Reins): Promise<string> {
  expect(await reins.run(["run", "--", "printf", "0123456789"])).toMatchObject({ code: 0 });
  const [session] = await reins.sessions();
  return session?.session_id ?? "";
}

test("logs prints all that was printed, apart as it was", async () => {
  await using reins = await lease();
  const script = String.raw`printf 'out \033[6n\000\377\n'; echo err >&2; exit 3`;
  await reins.run(["run", "--", "sh", "-c", script]);
  const [session] = await reins.sessions();
  const printing = reins.start(["logs", session?.session_id ?? ""]);
  expect(await printing.ended).toMatchObject({ code: 0, stderr: "err\n" });
  expect(printing.stdout().toString("latin1")).toBe("out \x1b[6n\0\xff\n");
});

test("logs of the newest that runs need no name", async () => {
  await using reins = await lease();
  expect(await reins.run(["logs"])).toMatchObject({
    code: 8,
    stderr: "reins: nothing is running; start something with: reins run -- COMMAND\n",
  });
  const id = await reins.detach(["--", "sh", "-c", "echo here; sleep 1000"]);
  await waitFor("the session prints", async () => (await reins.session(id)).tail > 0);
  expect(await reins.run(["logs"])).toMatchObject({ code: 0, stdout: "here\n" });
});

test("--since begins at an offset", async () => {
  await using reins = await lease();
  const id = await openEnded(reins);
  const since = async (offset: string) =>
    succeed(await reins.run(["logs", `--since=${offset}`, id]));
  expect(await since("0")).toBe("0123456789");
  expect(await since("7")).toBe("789");
  expect(await since("10")).toBe("");
  expect(await since("tail")).toBe("");
});

test("--tail begins with the last lines, whichever channel they are of", async () => {
  await using reins = await lease();
  const until = (file: string) => `until test -e ${file}; do sleep 0.02; done`;
  const script = `seq 1 50000; ${until("a")}; echo err >&2; ${until("b")}; printf last; ${until("go")}`;
  const id = await reins.detach(["--", "sh", "-c", script]);
  // One after the other: nobody knows in which order two pipes are read.
  const goOnAt = async (bytes: number, file: string) => {
    await waitFor("it has printed", async () => (await reins.session(id)).tail === bytes);
    writeFileSync(join(reins.path, file), "");
  };
  await goOnAt(288_894, "a");
  await goOnAt(288_898, "b");
  await waitFor("all is printed", async () => (await reins.session(id)).tail === 288_902);
  const tail = (count: string, ...more: readonly string[]) =>
    reins.run(["logs", "--tail", count, ...more, id]);
  expect(await tail("3")).toMatchObject({ code: 0, stdout: "50000\nlast", stderr: "err\n" });
  expect(await tail("0")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(succeed(await tail("99999")).length).toBe(288_894 + "last".length);
  const following = reins.start(["logs", "-f", "-n", "1", id]);
  await following.says("last");
  writeFileSync(join(reins.path, "go"), "");
  expect(await following.ended).toMatchObject({ code: 0, stdout: "last", stderr: "" });
  for (const word of ["x", "1.5", "", "+1"])
    expect(await tail(word)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^reins: --tail: /),
    });
  expect(await tail("1", "--since", "0")).toMatchObject({ code: 2, stdout: "" });
});

test("--since outside of the log is refused with where it begins and ends", async () => {
  await using reins = await lease();
  const id = await openEnded(reins);
  for (const offset of ["11", "-1", "9007199254740991"]) {
    const result = await reins.run(["logs", `--since=${offset}`, id]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(
      `no offset ${offset} in this log: it begins at 0 and ends at 10`,
    );
  }
  for (const word of ["x", "1.5", "", "9007199254740992"]) {
    expect(await reins.run(["logs", `--since=${word}`, id])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `reins: --since: ${JSON.stringify(word)} is neither an offset nor \`tail\`\n`,
    });
  }
});

test("-f goes on until the session has ended", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sh", "-c", TWO_STEPS]);
  const following = reins.start(["logs", "-f", id]);
  const fromTail = reins.start(["logs", "-f", "--json", "--since", "4", id]);
  await following.says("one\n");
  writeFileSync(join(reins.path, "go"), "");
  expect(await following.ended).toMatchObject({ code: 0, stdout: "one\ntwo\n", stderr: "err\n" });
  const frames = (await fromTail.ended).stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(frames).toContainEqual({ type: "stdout", offset: 4, data: "two\n", encoding: "utf8" });
  expect(frames.at(-1)).toMatchObject({ type: "exit", exit_code: 3, tail: 12 });
});

test("-f of a session that has ended prints and ends", async () => {
  await using reins = await lease();
  const id = await openEnded(reins);
  expect(await reins.run(["logs", "-f", id])).toMatchObject({ code: 0, stdout: "0123456789" });
});

test("an interrupt ends -f and leaves the session alone", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sh", "-c", "echo one; sleep 1000"]);
  const following = reins.start(["logs", "-f", id]);
  await following.says("one\n");
  following.child.kill("SIGINT");
  expect(await following.ended).toMatchObject({ code: 0, stderr: "" });
  expect((await reins.session(id)).state).toEqual({ kind: "running" });
});

test("-f tells of a host that is killed", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sh", "-c", "echo one; sleep 1000"]);
  const following = reins.start(["logs", "-f", id]);
  await following.says("one\n");
  process.kill((await reins.hostPid()) ?? 0, "SIGKILL");
  expect(await following.ended).toMatchObject({
    code: 7,
    stdout: "one\n",
    stderr: `reins: the host has gone away; reins logs ${id} shows what was printed\n`,
  });
});

test("a part of an id is enough", async () => {
  await using reins = await lease();
  const id = await openEnded(reins);
  expect(await reins.run(["logs", id.slice(4, 14)])).toMatchObject({
    code: 0,
    stdout: "0123456789",
  });
});

test("attach without a terminal follows and passes the exit code on", async () => {
  await using reins = await lease();
  const id = await reins.detach(["--", "sh", "-c", TWO_STEPS]);
  const attached = reins.start(["attach", id]);
  await attached.says("one\n");
  writeFileSync(join(reins.path, "go"), "");
  expect(await attached.ended).toMatchObject({ code: 3, stdout: "one\ntwo\n", stderr: "err\n" });
});
