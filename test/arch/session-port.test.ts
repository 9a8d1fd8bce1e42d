import { expect, test } from "vitest";
import { isTest, listFiles, readFile } from "./sources.ts";

/**
 * There is one way to a session: `src/session`. Only the folders on its host's side open its files or speak the host's
 * protocol. A file that is listed as an exception says why, and leaves the list when it no longer needs it.
 */
interface Rule {
  readonly what: string;
  readonly pattern: RegExp;
  readonly owners: readonly string[];
  readonly exceptions: Readonly<Record<string, string>>;
}

const FILES_OF_SESSIONS = ["src/log/", "src/host/", "src/session/"];

const rules: readonly Rule[] = [
  {
    what: "opens the log files of a session",
    pattern: /\b(?:LogFiles|openLogFiles)\b/,
    owners: [...FILES_OF_SESSIONS, "src/screen/"],
    exceptions: {},
  },
  {
    what: "speaks the host's protocol",
    pattern: /\b(?:HostClient|connectHost|openHostClient)\b/,
    owners: ["src/host/", "src/session/"],
    exceptions: {
      "src/cli/doctor/host.ts": "examines the host itself",
      "src/daemon/gateway.ts": "composition root: starts the host of its data directory",
    },
  },
  {
    what: "opens a socket",
    pattern: /\bcreateConnection\b|\bnew Socket\b|\btype Socket\b[^;]*"node:net"/,
    owners: ["src/host/", "src/proc/"],
    exceptions: {
      "src/cli/doctor/host.ts": "examines the host's socket itself",
      "src/client/transport.ts": "HTTP over a unix socket",
      "src/daemon/run/run-socket.ts":
        "finds out whether another process listens on a run's address",
      "src/registry/answering.ts": "finds out whether the address of a run answers",
    },
  },
  {
    what: "builds a path below sessions/",
    pattern: /\bsessionsFolder\b|\.sessions, [a-z]|"sessions"[,)]/,
    owners: [...FILES_OF_SESSIONS, "src/daemon/"],
    exceptions: {
      "src/app/restart/tend-agents.ts": "hands it to the one below",
      "src/app/restart/unattended-agents.ts": "looks for agents without starting a host",
      "src/cli/admin/records.ts": "composition root of a command",
    },
  },
];

const sources = listFiles("src/**/*.ts").filter((file) => !isTest(file));

test.each(rules)("only the host's side $what", ({ pattern, owners, exceptions }) => {
  const found = sources.filter(
    (file) =>
      !owners.some((owner) => file.startsWith(owner)) && pattern.test(withoutComments(file)),
  );
  expect(found).toEqual(Object.keys(exceptions).toSorted());
});

function withoutComments(file: string): string {
  return readFile(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}
