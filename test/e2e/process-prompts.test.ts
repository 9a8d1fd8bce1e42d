import { chmodSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestHost, type TestHost } from "#test/harness/host.ts";
import { createNap, openTestTools, type TestTools } from "#test/harness/process-tools.ts";
import { findProcesses } from "#test/harness/processes.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";

/**
 * Programs that ask somebody: for a password, whether a host is the right one, who is pushing. Nobody is there, so each
 * has to end by itself. That the same ones do ask where there is a terminal shows that there was something to ask.
 */

const stack = new AsyncDisposableStack();
let host: TestHost;
let tools: TestTools;
beforeAll(async () => {
  host = stack.use(await openTestHost());
  tools = stack.use(openTestTools(host));
});
afterAll(() => stack.disposeAsync());

/** Without a terminal it ends by itself, and says so by its code. */
async function expectRefusal(
  command: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const done = await tools.execute(command, more);
  expect(done).toMatchObject({ success: false, running: false, exit_code: expect.any(Number) });
  expect(done).not.toHaveProperty("timed_out");
  expect(done).not.toHaveProperty("background_process_id");
  return done.output;
}

/** With one it asks, and waits until it is killed. */
async function expectQuestion(
  command: string,
  pattern: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const started = await tools.execute(command, { tty: true, run_in_background: true, ...more });
  const process_id = started.background_process_id;
  const wait = { process_id, wait: "20s", wait_for: "regex", pattern };
  expect(await tools.call("process_output", wait)).toMatchObject({
    running: true,
    note: expect.stringContaining("the pattern matches"),
  });
  await tools.call("process_signal", { process_id, signal: "kill", escalate_after: "10s" });
}

test.each(["sudo true", "ssh nobody@localhost true", "git push"])(
  "what asks at /dev/tty as %s does ends at once where there is none",
  async (command) => {
    using dir = openTempDir();
    const [name = ""] = command.split(" ");
    const file = join(dir.path, name);
    const ask = "printf 'password: ' >/dev/tty && read -r answer </dev/tty";
    writeFileSync(file, `#!/bin/sh\n${ask}\n`);
    chmodSync(file, 0o755);
    const env = { PATH: `${dir.path}:${process.env.PATH}` };
    expect(await expectRefusal(command, { env })).toContain("/dev/tty");
    await expectQuestion(command, "password: ", { env });
  },
);

test("ssh, and git over it, give up at a host key that nobody knows", async () => {
  await using server = await listen(createStrangeHost());
  const files = "-o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null";
  const ssh = `ssh -F /dev/null ${files}`;
  const command = `${ssh} -p ${server.port} nobody@127.0.0.1 true`;
  const refusal = "Host key verification failed";
  expect(await expectRefusal(command)).toContain(refusal);
  await expectQuestion(command, "continue connecting");
  // A window somewhere is nobody who answers either.
  using askpass = openAskpass();
  const windowed = { env: { DISPLAY: ":0", SSH_ASKPASS: askpass.file } };
  expect(await expectRefusal(command, windowed)).toContain(refusal);
  using dir = openTempDir();
  const url = `ssh://nobody@127.0.0.1:${server.port}/x.git`;
  const push = `git init -q . && ${commit} && GIT_SSH_COMMAND='${ssh}' git push ${url} HEAD:main`;
  expect(await expectRefusal(push, { workdir: dir.path })).toContain(refusal);
  expect(findProcesses(askpass.nap)).toEqual([]);
});

test("git push gives up at a server that wants a name", async () => {
  const http = createHttpServer((_request, response) => {
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="x"' }).end();
  });
  await using server = await listen(http);
  using dir = openTempDir();
  using askpass = openAskpass();
  const workdir = dir.path;
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  await tools.execute(`git init -q . && ${commit}`, { workdir, env });
  const push = `git -c http.proxy= push http://127.0.0.1:${server.port}/x.git HEAD:main`;
  const refusal = "could not read Username";
  expect(await expectRefusal(push, { workdir, env })).toContain(refusal);
  const windowed = { ...env, DISPLAY: ":0", SSH_ASKPASS: askpass.file };
  expect(await expectRefusal(push, { workdir, env: windowed })).toContain(refusal);
  // Also who lets it ask finds that there is nobody.
  const asking = { ...env, GIT_TERMINAL_PROMPT: "1" };
  expect(await expectRefusal(push, { workdir, env: asking })).toContain(refusal);
  await expectQuestion(push, "Username for", { workdir, env: asking });
  expect(findProcesses(askpass.nap)).toEqual([]);
});

const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";

interface Askpass extends Disposable {
  readonly file: string;
  readonly nap: string;
}

/** A program that would ask in a window, for ever. */
function openAskpass(): Askpass {
  const dir = openTempDir();
  const nap = createNap();
  const file = join(dir.path, "askpass");
  writeFileSync(file, `#!/bin/sh\nexec ${nap}\n`, { mode: 0o755 });
  return { file, nap, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

async function listen(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
  };
}

/**
 * As much of an SSH server as a client hears before it asks about the key: the version, what is supported, and a key.
 * It proves nothing about the key, which is looked at only after the answer.
 */
function createStrangeHost(): Server {
  const text = (value: string | Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(value));
    return Buffer.concat([length, Buffer.from(value)]);
  };
  const names = [
    ...["curve25519-sha256", "ssh-ed25519", "aes128-ctr", "aes128-ctr"],
    ...["hmac-sha2-256", "hmac-sha2-256", "none", "none", "", ""],
  ];
  const offer = Buffer.concat([Buffer.alloc(17, 20), ...names.map(text), Buffer.alloc(5)]);
  const bytes = Buffer.alloc(32, 9);
  const key = Buffer.concat([text("ssh-ed25519"), text(bytes)]);
  const reply = Buffer.concat([Buffer.from([31]), text(key), text(bytes), text(key)]);
  return createServer((socket) => {
    // The client goes away when it likes.
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(Buffer.concat([Buffer.from("SSH-2.0-strange\r\n"), packet(offer), packet(reply)]));
  });
}

/** Its length, the length of the padding, the payload, and padding of at least 4 up to a multiple of 8. */
function packet(payload: Buffer): Buffer {
  const padding = 4 + ((8 - ((payload.length + 9) % 8)) % 8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, Buffer.alloc(padding)]);
}
