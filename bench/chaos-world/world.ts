import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { FaultKind } from "#bench/chaos/schedule.ts";
import { owned } from "#bench/lib/owned.ts";
import { type Client, createClient } from "#client/client.ts";
import { asFault, Fault } from "#contract/fault.ts";
import { locateDataDir } from "#host/data-dir.ts";
import { findHost } from "#host/socket/start-host.ts";
import { type FlakyProxy, openFlakyProxy } from "./flaky-proxy.ts";
import { type ManagedGateway, openManagedGateway } from "./managed-gateway.ts";
import { findCarriers, findTarget, type Mortal, signalTarget, type Target } from "./processes.ts";
import { openSmallDisk, type SmallDisk } from "./small-disk.ts";

/** A time in which something was broken on purpose. */
export interface Span {
  readonly kind: FaultKind;
  readonly from: number;
  to: number;
}

const HOST_ANSWER_MS = 20_000;
const RETRY_MS = 250;
const END_ROUNDS = 20;
/** How long after a fault its effects may still show. */
const AFTER_MS = 4000;

/** Everything of one run, in processes of their own, and what has been done to it and found so far. */
export class World implements AsyncDisposable {
  /** In the arguments of every process that belongs to it. */
  readonly run: string;
  readonly dir: string;
  readonly reins: string;
  readonly clockFile: string;
  readonly disk: SmallDisk;
  readonly problems: string[] = [];
  readonly spans: Span[] = [];
  /** Programs that follow a session and may be killed. */
  readonly programs = new Set<Mortal>();
  /** Readers that can be asked to stop reading for a while. */
  readonly readers = new Set<{ holdFor(ms: number): void }>();
  /** Whoever types at this moment and would send again what is not acknowledged; when he was last heard. */
  readonly typists = new Map<object, number>();
  #started = performance.now();
  readonly #stack = new AsyncDisposableStack();
  #gateways: ManagedGateway[] = [];
  #proxy: FlakyProxy | undefined;
  #token = "";
  /** The step that was begun last. */
  step = 0;

  constructor() {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), "chaos-")));
    this.dir = dir;
    this.run = `${dir.split("/").at(-1)}-${randomBytes(3).toString("hex")}`;
    this.clockFile = join(dir, "clock");
    this.reins = join(dir, "reins.mjs");
    writeFileSync(this.clockFile, "0");
    const shifted = fileURLToPath(new URL("./shifted-reins.ts", import.meta.url));
    const words = [shifted, this.clockFile].map((word) => JSON.stringify(word));
    writeFileSync(
      this.reins,
      `import { runShifted } from ${words[0]};\nawait runShifted(${words[1]});\n`,
    );
    for (const name of ["seen", "work"]) mkdirSync(join(dir, name));
    this.disk = this.#stack.use(openSmallDisk(join(dir, "disk")));
    this.#stack.use(owned(() => this.#endAll()));
  }

  get dataDir(): string {
    return join(this.disk.path, "home");
  }

  get now(): number {
    return performance.now() - this.#started;
  }

  /** The plan's time starts now. */
  begin(): void {
    this.#started = performance.now();
  }

  get proxy(): FlakyProxy {
    if (this.#proxy === undefined) throw new Error("the world is not open");
    return this.#proxy;
  }

  get gateways(): readonly ManagedGateway[] {
    return this.#gateways;
  }

  get token(): string {
    return this.#token;
  }

  async open(): Promise<void> {
    // The first is behind the proxy, the second is reached directly.
    const proxy = await openFlakyProxy(() => this.#gateways[0]?.port ?? 0);
    this.#stack.use(owned(async () => await proxy[Symbol.asyncDispose]()));
    this.#proxy = proxy;
    for (const public_url of [proxy.url, undefined]) {
      const gateway = await openManagedGateway(this, public_url);
      this.#stack.use(gateway);
      this.#gateways.push(gateway);
    }
    this.#token = readFileSync(join(this.dataDir, "token"), "utf8").trim();
  }

  urlOf(way: "proxy" | "direct"): string {
    return way === "proxy" ? this.proxy.url : `http://127.0.0.1:${this.#gateways[1]?.port}`;
  }

  client(way: "proxy" | "direct"): Client {
    return createClient({ url: this.urlOf(way), token: this.token });
  }

  /** The host that runs now; undefined when there is none, or none that answers. */
  async findHost(): Promise<Target | undefined> {
    const found = findHost(locateDataDir(this.dataDir)).then(
      (client) => {
        const pid = client?.hello.pid;
        client?.[Symbol.dispose]();
        return pid;
      },
      () => undefined,
    );
    const pid = await Promise.race([found, sleep(HOST_ANSWER_MS, undefined, { ref: false })]);
    return pid === undefined ? undefined : findTarget(pid);
  }

  /** Of agents. */
  workers(): Target[] {
    return findCarriers(`${this.reins} agent`).flatMap(({ pid }) => findTarget(pid) ?? []);
  }

  /** Something is wrong, so what is on the disk is evidence. */
  get isKept(): boolean {
    return this.problems.length > 0;
  }

  journal(line: string): void {
    appendFileSync(join(this.dir, "journal"), `${(this.now / 1000).toFixed(3)} ${line}\n`);
  }

  wrong(problem: string): void {
    const said = `after step ${this.step}: ${problem}`;
    this.problems.push(said);
    this.journal(`WRONG ${said}`);
  }

  /** Whether one of these was done in that time, or shortly before it. */
  wasDone(kinds: readonly FaultKind[], from: number, to = this.now): boolean {
    return this.spans.some(
      (span) => kinds.includes(span.kind) && span.from <= to && span.to + AFTER_MS >= from,
    );
  }

  /** Notes a refusal. One that names no reason is a bug, whatever was done. */
  refused(what: string, error: unknown): Fault {
    const fault = asFault(error);
    this.journal(`refused ${what}: ${fault.code} ${fault.message}`);
    if (error instanceof Fault && fault.code === "internal")
      this.wrong(`${what}: internal: ${fault.message}`);
    return fault;
  }

  /** Asks until it is done; whatever keeps failing in spite of a whole system is thrown. */
  async insist<T>(what: string, within: number, ask: () => Promise<T>): Promise<T> {
    const until = performance.now() + within;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const fault = this.refused(what, error);
        if (performance.now() > until)
          throw new Fault(fault.code, `${what}: ${fault.message}`, { cause: error });
      }
      await sleep(RETRY_MS);
    }
  }

  /** Nobody is left of a run that came to its end. One that was interrupted leaves the host and what it runs. */
  async #endAll(): Promise<void> {
    for (let round = 0; round < END_ROUNDS; round += 1) {
      const left = [this.dir, this.run]
        .flatMap((word) => findCarriers(word))
        .flatMap(({ pid }) => findTarget(pid) ?? []);
      if (left.length === 0) return;
      for (const target of left) signalTarget(target, "SIGKILL");
      await sleep(RETRY_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
