import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTempDir } from "#test/harness/temp-dir.ts";
import { readConfig } from "./config.ts";
import { readFlags } from "./gateway.ts";

function read(text: string) {
  using dir = openTempDir();
  const path = join(dir.path, "config.yaml");
  writeFileSync(path, text);
  return readConfig(path);
}

test("no file and an empty one are an empty configuration", () => {
  expect(readConfig("/no/such/config.yaml")).toEqual({});
  expect(read("")).toEqual({});
  expect(read("# nothing\n")).toEqual({});
});

test("every setting is read", () => {
  const text = `
listen: "[::1]:7346"
public_url: https://reins.example.org
tls: { cert: /c, key: /k }
allow_insecure: true
env_passthrough: [EDITOR, LC_X]
shell: /bin/zsh
task_idle_timeout_ms: 0
team_roots: [/srv/teams]
teams: { helper: /srv/helper.yaml }
`;
  expect(read(text)).toEqual({
    listen: "[::1]:7346",
    public_url: "https://reins.example.org",
    tls: { cert: "/c", key: "/k" },
    allow_insecure: true,
    env_passthrough: ["EDITOR", "LC_X"],
    shell: "/bin/zsh",
    task_idle_timeout_ms: 0,
    team_roots: ["/srv/teams"],
    teams: { helper: "/srv/helper.yaml" },
  });
});

test.each([
  ["listen: 127.0.0.1:1\nlisten: x\n", 2],
  ["a: [\n", 2],
  ["\n\nunknown: 1\n", 3],
  ["shell: bash\n", 1],
  ["\ntls:\n  cert: /c\n  key: k\n", 4],
  ["env_passthrough: [A, REINS_X]\n", 1],
  ["env_passthrough: ['A=B']\n", 1],
  ["public_url: https://x.example/path\n", 1],
  ["public_url: ftp://x.example\n", 1],
  ["task_idle_timeout_ms: -1\n", 1],
  ["listen: 7346\n", 1],
  ["team_roots: [teams]\n", 1],
  ["teams: { a: b.yaml }\n", 1],
  ["teams: { ../a: /b.yaml }\n", 1],
  ["on_event:\n  - type: session.exit\n    command: cat\n", 2],
  ["on_event:\n  - command: cat\n", 2],
  ["- a\n", 1],
])("%j is refused with its line", (text, line) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      details: expect.objectContaining({ line }),
    }),
  );
});

test("a hook for events that never happen is refused, and the nearest type named", () => {
  expect(() => read("on_event:\n  - { type: session.exitd, command: cat }\n")).toThrow(
    'on_event.0.type: there is no event of the type "session.exitd"; did you mean session.exited?',
  );
  const every = { type: "*", command: "cat" };
  expect(read(`on_event: [${JSON.stringify(every)}]`)).toEqual({ on_event: [every] });
});

test("flags are named as they were typed, and TLS needs both of its files", () => {
  const none = { public_url: undefined, tls_cert: undefined, tls_key: undefined };
  const flags = { ...none, listen: undefined, allow_insecure: undefined };
  expect(readFlags(flags)).toEqual({});
  expect(readFlags({ ...flags, tls_cert: "/c", tls_key: "/k" })).toEqual({
    tls: { cert: "/c", key: "/k" },
  });
  expect(() => readFlags({ ...flags, tls_cert: "/c" })).toThrow("--tls-cert and --tls-key");
  expect(() => readFlags({ ...flags, listen: "x" })).toThrow(/^--listen: /);
  expect(() => readFlags({ ...flags, public_url: "x" })).toThrow(/^--public-url: /);
});
