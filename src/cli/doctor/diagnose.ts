import { messageOf } from "#base/errno.ts";
import { checkDataDir, checkSocket, checkToken } from "./data-dir.ts";
import { type Finding, failed } from "./finding.ts";
import { checkGateway } from "./gateway.ts";
import { checkHost } from "./host.ts";
import { checkKeys } from "./keys.ts";
import {
  checkCgroups,
  checkDisk,
  checkNode,
  checkOpenFiles,
  checkTerminalCount,
} from "./machine.ts";
import { checkTerminal } from "./terminal.ts";
import type { World } from "./world.ts";

type Check = (world: World) => Finding | Promise<Finding>;

/** In this order: what only looks comes before what starts a host, which makes and repairs the data directory. */
const looks: readonly (readonly [name: string, check: Check])[] = [
  ["node", checkNode],
  ["terminal", checkTerminal],
  ["open_files", checkOpenFiles],
  ["terminal_count", checkTerminalCount],
  ["cgroups", checkCgroups],
  ["disk", checkDisk],
  ["data_dir", checkDataDir],
  ["socket", checkSocket],
  ["token", checkToken],
];

export async function diagnose(world: World): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [name, check] of looks) findings.push(await contain(name, () => check(world)));
  const isDirRight = !findings.some(
    ({ name, status }) => status === "failed" && (name === "data_dir" || name === "socket"),
  );
  findings.push(await contain("host", () => checkHost(world, { isDirRight })));
  findings.push(await contain("gateway", () => checkGateway(world)));
  findings.push(await contain("keys", () => checkKeys(world)));
  return findings;
}

/** A check that breaks is a finding; the others still run. */
async function contain(name: string, check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    const sentence = `This could not be checked: ${messageOf(error)}.`;
    return failed(name, sentence, "Look at what it names; if that is right, tell us.");
  }
}
