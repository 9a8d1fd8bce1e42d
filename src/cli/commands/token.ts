import { openRecords } from "#cli/admin/records.ts";
import { collect, given, parseLifetime, parseTyped, runEach, runVerb } from "#cli/admin/verbs.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";
import { Fault } from "#contract/fault.ts";
import { operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import type { Token } from "#contract/token.ts";
import { describeAge, renderColumns } from "./ps.ts";

export function run(argv: readonly string[]): Promise<number> {
  return runVerb("token", { create, list, revoke }, argv);
}

const everywhere = { "data-dir": { type: "string" }, json: { type: "boolean" } } as const;
const typed = {
  user_id: "--user",
  role: "--role",
  workspaces: "--workspace",
  expires_in_ms: "--expires",
  label: "--label",
};

/** The secret alone on stdout, for a variable or a file; what else is to say goes to people. */
async function create(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, {
    ...everywhere,
    user: { type: "string" },
    role: { type: "string" },
    workspace: { type: "string", multiple: true },
    expires: { type: "string" },
    label: { type: "string" },
  });
  refuseWords(positionals);
  const { user: user_id, role, workspace: workspaces, label, expires } = values;
  if (user_id === undefined || role === undefined)
    throw new Fault(
      "invalid_request",
      "say whose it is and what it may: --user ID --role viewer|operator|admin",
    );
  const expires_in_ms = expires === undefined ? undefined : parseLifetime(expires, "--expires");
  const asked = given({ user_id, role, workspaces, label, expires_in_ms });
  const input = parseTyped(typed, () => parseRequest(operations["token.create"].input, asked));
  using records = await openRecords(values["data-dir"]);
  const token = await records.operations["token.create"](input);
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify(token)}\n`);
    return 0;
  }
  const end = token.expires_at === null ? "until it is revoked" : `until ${token.expires_at}`;
  process.stderr.write(
    `${token.token_id}: ${token.user_id}, ${token.role}, ${describeScope(token)}, ${end}. The secret is shown this once:\n`,
  );
  process.stdout.write(`${token.secret}\n`);
  return 0;
}

async function list(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, { ...everywhere, user: { type: "string" } });
  refuseWords(positionals);
  const asked = given({ user_id: values.user });
  const input = parseTyped(typed, () => parseRequest(operations["token.list"].input, asked));
  using records = await openRecords(values["data-dir"]);
  const tokens = await collect(async (page) => {
    const { tokens: rows, cursor } = await records.operations["token.list"]({ ...input, ...page });
    return { rows, cursor };
  });
  process.stdout.write(
    values.json === true ? `${JSON.stringify({ tokens })}\n` : renderTokens(tokens, Date.now()),
  );
  return 0;
}

async function revoke(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, everywhere);
  if (positionals.length === 0)
    throw new Fault(
      "invalid_request",
      "say which: reins token revoke ID… (reins token list shows them)",
    );
  using records = await openRecords(values["data-dir"]);
  return await runEach(positionals, async (token_id) => {
    const { input } = operations["token.revoke"];
    const request = parseTyped({ token_id }, () => parseRequest(input, { token_id }));
    await records.operations["token.revoke"](request);
    const line = values.json === true ? JSON.stringify(request) : `${token_id} revoked`;
    process.stdout.write(`${line}\n`);
  });
}

export function renderTokens(tokens: readonly Token[], now: number): string {
  const rows = tokens.map((token) => [
    token.token_id,
    printable(token.user_id),
    token.role,
    describeAge(now - Date.parse(token.created_at)),
    token.last_used_at === null ? "never" : describeAge(now - Date.parse(token.last_used_at)),
    describeEnd(token, now),
    describeScope(token),
    printable(token.label),
  ]);
  const head = ["ID", "USER", "ROLE", "AGE", "USED", "EXPIRES", "WORKSPACES", "LABEL"];
  return renderColumns([head, ...rows]);
}

function describeEnd({ expires_at }: Token, now: number): string {
  if (expires_at === null) return "never";
  const left = Date.parse(expires_at) - now;
  return left > 0 ? `in ${describeAge(left)}` : "expired";
}

function describeScope({ workspaces }: Token): string {
  return workspaces === "*" ? "all workspaces" : workspaces.join(" ");
}
