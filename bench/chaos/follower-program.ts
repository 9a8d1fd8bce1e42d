// A program that attaches by the typed client and writes down what it gets, a line each: it may be killed at any moment.
//   URL TOKEN SESSION SINCE FILE
import { openSync, writeSync } from "node:fs";
import { createClient } from "#client/client.ts";

const [url = "", token = "", session = "", since = "0", file = ""] = process.argv.slice(2);
const PING_MS = 1500;

const fd = openSync(file, "a");
const say = (line: object) => writeSync(fd, `${JSON.stringify(line)}\n`);
const attached = createClient({ url, token }).attach(session, {
  since: Number(since),
  pingMs: PING_MS,
  binary: Number(since) % 2 === 0,
});
let code = 1;
for await (const event of attached) {
  if (event.type === "output") {
    const { channel, offset, bytes } = event;
    say({ type: channel, offset, data: Buffer.from(bytes).toString("base64"), encoding: "base64" });
  }
  if (event.type === "gap" || event.type === "exit") say(event);
  if (event.type === "exit") code = 0;
  if (event.type === "failed")
    process.stderr.write(`${event.fault.code}: ${event.fault.message}\n`);
}
process.exit(code);
