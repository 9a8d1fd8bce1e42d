import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { HostHealth } from "#host/socket/methods.ts";
import { openTestGateway } from "#test/harness/gateway.ts";
import { openTestHost } from "#test/harness/host.ts";
import { leaseForFile } from "#test/harness/lease.ts";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { diagnose } from "./diagnose.ts";
import { checkGateway } from "./gateway.ts";
import { checkHost, describeHealth } from "./host.ts";
import { createTestWorld } from "./test-world.ts";

const leaseHost = leaseForFile(() => openTestHost());

const isDirRight = true;

describe("the host", () => {
  test("that runs is described; one of another version is only noted", async () => {
    await using host = await leaseHost();
    const world = createTestWorld(host.dataDir);
    const found = await checkHost(world, { isDirRight });
    expect(found).toMatchObject({ status: "ok", advice: null });
    expect(found.sentence).toContain(`runs as process ${host.pid}`);
    expect(await checkHost({ ...world, version: "99.0.0" }, { isDirRight })).toMatchObject({
      status: "info",
      sentence: expect.stringContaining("This is Reins 99.0.0."),
      advice: expect.stringContaining("reins host upgrade"),
    });
  });

  test("fails when logs cannot be written; other troubles are only noted", async () => {
    await using host = await leaseHost();
    const world = createTestWorld(host.dataDir);
    const health = await host.client.call("host.health", {});
    const found = (change: Partial<HostHealth>) => describeHealth({ ...health, ...change }, world);
    expect(found({})).toMatchObject({ status: "ok" });
    expect(found({ log_faults: 2 })).toMatchObject({
      status: "failed",
      sentence: "The logs of 2 sessions cannot be written.",
    });
    expect(found({ log_faults: 1 }).sentence).toBe("The log of 1 session cannot be written.");
    expect(found({ errors: 1 })).toMatchObject({ status: "info" });
    expect(found({ unreadable: ["ses_x"] })).toMatchObject({ status: "info" });
  });

  test("fails when it cannot be started", async () => {
    using temp = openTempDir();
    const world = createTestWorld(join(temp.path, "home"), { command: ["/bin/false"] });
    const found = await checkHost(world, { isDirRight });
    expect(found.status).toBe("failed");
    expect(found.sentence).toContain("the host could not be started");
    expect(found.advice).toContain("host.log");
  });

  test("is not started in a data directory that is wrong", async () => {
    using temp = openTempDir();
    const home = join(temp.path, "home");
    const world = createTestWorld(home, { command: ["/bin/false"] });
    expect(await checkHost(world, { isDirRight: false })).toMatchObject({ status: "info" });
    expect(existsSync(home)).toBe(false);
  });

  test("fails when it takes the connection and says nothing", async () => {
    using temp = openTempDir();
    mkdirSync(join(temp.path, "home"));
    const world = createTestWorld(join(temp.path, "home"), { patienceMs: 50 });
    await using server = createSocketServer((socket) => void socket.on("error", () => undefined));
    await new Promise<void>((resolve) => server.listen(world.dir.socket, resolve));
    expect(await checkHost(world, { isDirRight })).toMatchObject({
      status: "failed",
      sentence: "A host runs and does not answer.",
    });
  });
});

describe("the gateway", () => {
  test("that the configuration names is asked", async () => {
    await using gateway = await openTestGateway();
    using temp = openHome(`listen: ${new URL(gateway.url).host}\n`);
    expect(await checkGateway(createTestWorld(temp.path))).toMatchObject({
      status: "ok",
      sentence: `The server test answers at ${gateway.url}.`,
    });
  });

  test("fails when nobody answers where it should", async () => {
    using temp = openHome(`listen: 127.0.0.1:${await findFreePort()}\n`);
    expect(await checkGateway(createTestWorld(temp.path))).toMatchObject({
      status: "failed",
      sentence: expect.stringContaining("ECONNREFUSED"),
      advice: "reins serve",
    });
  });

  const others: [string, string, string][] = [
    ["something else answers", "<h1>hello</h1>", "something else answers there"],
    ["JSON of somebody else answers", '["status", "version"]', "something else answers there"],
    ["it is not well", '{"status":"degraded","version":"1.2.3"}', "says that it is degraded"],
  ];
  test.each(others)("fails when %s", async (_, body, sentence) => {
    await using server = createServer((_request, response) => response.end(body));
    using temp = openHome(`listen: 127.0.0.1:${await listen(server)}\n`);
    const found = await checkGateway(createTestWorld(temp.path));
    expect(found.status).toBe("failed");
    expect(found.sentence).toContain(sentence);
  });

  test("fails when it does not answer in time", async () => {
    await using server = createServer(() => undefined);
    using temp = openHome(`listen: 127.0.0.1:${await listen(server)}\n`);
    const world = createTestWorld(temp.path, { patienceMs: 50 });
    expect(await checkGateway(world)).toMatchObject({ status: "failed" });
    server.closeAllConnections();
  });

  test("must show the certificate that is configured", async () => {
    using temp = openHome("");
    const [mine, other] = [makeCertificate(temp.path, "mine"), makeCertificate(temp.path, "other")];
    const health = '{"status":"ok","version":"1.2.3"}';
    await using server = createTlsServer(mine.pair, (_, response) => response.end(health));
    const address = `0.0.0.0:${await listen(server)}`;
    const check = async (cert: string) => {
      const tls = `tls: {cert: ${cert}, key: ${mine.key}}`;
      writeFileSync(join(temp.path, "config.yaml"), `listen: ${address}\n${tls}\n`);
      return await checkGateway(createTestWorld(temp.path));
    };
    expect(await check(mine.cert)).toMatchObject({
      status: "ok",
      sentence: expect.stringContaining("https://127.0.0.1:"),
    });
    expect(await check(other.cert)).toMatchObject({ status: "failed" });
  });

  test("fails with the line of a configuration that is wrong", async () => {
    using temp = openHome("listen: 127.0.0.1:1\nfrob: 1\n");
    expect(await checkGateway(createTestWorld(temp.path))).toMatchObject({
      status: "failed",
      sentence: expect.stringContaining("config.yaml:2:"),
    });
  });

  test("is only noted when it picks its port", async () => {
    using temp = openHome("listen: 127.0.0.1:0\n");
    expect(await checkGateway(createTestWorld(temp.path))).toMatchObject({ status: "info" });
  });

  test("is not missed where none is configured", async () => {
    using temp = openHome("shell: /bin/sh\n");
    expect((await checkGateway(createTestWorld(temp.path))).status).not.toBe("failed");
  });
});

test("a check that breaks is a finding, and the others still run", async () => {
  await using host = await leaseHost();
  const world = createTestWorld(host.dataDir, {
    hasCgroups: () => Promise.reject(new Error("the kernel is odd")),
  });
  const found = await diagnose(world);
  expect(found.filter(({ status }) => status === "failed")).toEqual([
    expect.objectContaining({
      name: "cgroups",
      sentence: "This could not be checked: the kernel is odd.",
    }),
  ]);
  expect(found.map(({ name }) => name)).toEqual([
    ...["node", "terminal", "open_files", "terminal_count", "cgroups", "disk", "data_dir"],
    ...["socket", "token", "host", "gateway", "keys"],
  ]);
});

function openHome(config: string) {
  const temp = openTempDir();
  writeFileSync(join(temp.path, "config.yaml"), config);
  return temp;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return portOf(server.address());
}

async function findFreePort(): Promise<number> {
  await using server = createServer();
  return await listen(server);
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

function makeCertificate(folder: string, name: string) {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const rest = ["-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", `/CN=${name}`];
  execFileSync("openssl", [...made, ...rest], { stdio: "ignore" });
  return { key, cert, pair: { key: readFileSync(key), cert: readFileSync(cert) } };
}
