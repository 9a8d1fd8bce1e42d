import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Control, eventLines, openControl, SLOW_MS, type Way } from "#test/harness/control.ts";
import { waitFor } from "#test/harness/eventually.ts";
import { startProto } from "#test/harness/proto.ts";
import { succeed } from "#test/harness/reins.ts";
import { rows } from "#test/harness/repeats.ts";
import { runProgram } from "#test/harness/run-program.ts";

/** All of them JSON, and none as JSON.stringify would write it. */
const ODD = [
  String.raw`{"title":"\u0041\/b\u00e9","type":"session.title"}`,
  String.raw`  { "n" : 1e2, "m":-0.50 ,"title":"é\ud83d\ude00", "type" : "session.title" }`,
  String.raw`{"type":"session.title","2":2,"1":1,"title":"a","title":"\u0020b","n":12345678901234567890}`,
];

/** An agent in whose log another hand has written, in its own spelling: the lines, which are as long as they were. */
async function openOddSession({ reins, agent, logOf }: Control) {
  const id = await agent();
  succeed(await reins.run(["host", "stop"]));
  const lines = logOf(id);
  const odd = [...ODD];
  const spelled = lines.map((line) => {
    const length = Buffer.byteLength(line);
    const isFree = !/"type":"(?:session.exited|reply)"/.test(line);
    if (!isFree || odd[0] === undefined || length < Buffer.byteLength(odd[0])) return line;
    const text = odd.shift() ?? "";
    return text + " ".repeat(length - Buffer.byteLength(text));
  });
  expect(odd).toEqual([]);
  const path = join(reins.home, "sessions", id, "events", "0000000000000000");
  writeFileSync(path, `${spelled.join("\n")}\n`);
  return { id, log: eventLines(spelled) };
}

/** A server reads the same log as this machine does, so it stands for both. */
const ways = rows<Way>({ few: ["remote"], full: ["local", "remote"] });

describe.each(ways)("a line of the log, %s", { timeout: SLOW_MS }, (way) => {
  test("a watch and a program get it byte for byte, however it is spelled", async () => {
    await using control = await openControl(way);
    const { reins, where } = control;
    const { id, log } = await openOddSession(control);
    const watching = reins.start(["watch", id, ...where]);
    await watching.says(`${log.at(-1)}\n`);
    watching.child.kill("SIGINT");
    expect(await watching.ended).toMatchObject({ code: 0, stdout: `${log.join("\n")}\n` });
    const proto = await startProto(reins, ["--to", id, "--since", "0", ...where]);
    await proto.running.says(`"event":${log.at(-1)},"next":`);
    proto.running.child.stdin?.end();
    const { code, stdout } = await proto.running.ended;
    expect(code).toBe(0);
    const events = stdout
      .split("\n")
      .map((line) => /^\{"type":"event","event":(.*),"next":\d+\}$/.exec(line)?.[1]);
    expect(events.filter((event) => event !== undefined)).toEqual(log);
  });

  test("watch | jq gives each event as soon as it is there", async () => {
    await using control = await openControl(way);
    const { reins, where } = control;
    const id = await control.agent();
    const words = [id, ...where].join(" ");
    writeFileSync(join(reins.path, "types"), "");
    const piped = runProgram(
      ["sh", "-c", `reins watch ${words} | jq --unbuffered -r .type > types`],
      {
        cwd: reins.path,
        env: reins.env,
      },
    );
    const types = () => readFileSync(join(reins.path, "types"), "utf8").trimEnd().split("\n");
    await waitFor("jq has read", () => types().includes("session.title"), { timeout: 30_000 });
    succeed(await control.run("send", "turn left", "--to", id));
    await waitFor(
      "jq has read more",
      () => types().filter((type) => type === "turn.ended").length === 2,
      {
        timeout: 30_000,
      },
    );
    succeed(await control.run("close", id));
    expect(await piped).toMatchObject({ code: 0 });
    expect(types()).toEqual(eventLines(control.logOf(id)).map((line) => JSON.parse(line).type));
  });
});
