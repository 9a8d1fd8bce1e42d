import { openRecords } from "#cli/admin/records.ts";
import { collect, parseTyped, runEach, runVerb } from "#cli/admin/verbs.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";
import { Fault } from "#contract/fault.ts";
import { operations } from "#contract/operations.ts";
import { parseRequest } from "#contract/parse.ts";
import { describeAge, renderColumns } from "./ps.ts";

export function run(argv: readonly string[]): Promise<number> {
  return runVerb("workspace", { create, list, delete: remove }, argv);
}

const options = { "data-dir": { type: "string" }, json: { type: "boolean" } } as const;

async function create(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, options);
  const [name, ...rest] = positionals;
  refuseWords(rest);
  if (name === undefined)
    throw new Fault("invalid_request", "say its name: reins workspace create NAME");
  const { input } = operations["workspace.create"];
  const request = parseTyped({ name: JSON.stringify(name) }, () => parseRequest(input, { name }));
  using records = await openRecords(values["data-dir"]);
  const made = await records.operations["workspace.create"](request);
  process.stdout.write(`${values.json === true ? JSON.stringify(made) : made.workspace_id}\n`);
  return 0;
}

async function list(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, options);
  refuseWords(positionals);
  using records = await openRecords(values["data-dir"]);
  const workspaces = await collect(async (page) => {
    const { workspaces: rows, cursor } = await records.operations["workspace.list"](page);
    return { rows, cursor };
  });
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify({ workspaces })}\n`);
    return 0;
  }
  const rows = workspaces.map(({ workspace_id, name, created_at }) => [
    workspace_id,
    describeAge(Date.now() - Date.parse(created_at)),
    printable(name),
  ]);
  process.stdout.write(renderColumns([["ID", "AGE", "NAME"], ...rows]));
  return 0;
}

async function remove(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, options);
  if (positionals.length === 0)
    throw new Fault(
      "invalid_request",
      "say which: reins workspace delete ID… (reins workspace list shows them)",
    );
  using records = await openRecords(values["data-dir"]);
  return await runEach(positionals, async (workspace_id) => {
    const { input } = operations["workspace.delete"];
    const request = parseTyped({ workspace_id }, () => parseRequest(input, { workspace_id }));
    await records.operations["workspace.delete"](request);
    const line = values.json === true ? JSON.stringify(request) : `${workspace_id} deleted`;
    process.stdout.write(`${line}\n`);
  });
}
