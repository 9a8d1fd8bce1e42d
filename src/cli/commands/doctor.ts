import { diagnose } from "#cli/doctor/diagnose.ts";
import type { Finding } from "#cli/doctor/finding.ts";
import { createWorld } from "#cli/doctor/world.ts";
import { parseOptions, refuseWords } from "#cli/program/options.ts";
import { printable } from "#cli/program/printable.ts";

const FAILED_EXIT = 1;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, { json: { type: "boolean" } });
  refuseWords(positionals);
  const checks = await diagnose(createWorld());
  const wrong = checks.filter(({ status }) => status === "failed").length;
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify({ ok: wrong === 0, checks })}\n`);
  } else {
    process.stdout.write(renderFindings(checks));
    process.stderr.write(wrong === 0 ? "All is well.\n" : `${describeCount(wrong)} failed.\n`);
  }
  return wrong === 0 ? 0 : FAILED_EXIT;
}

const LABELS = { ok: "ok", info: "info", failed: "FAILED" } as const;

export function renderFindings(findings: readonly Finding[]): string {
  const nameWidth = Math.max(...findings.map(({ name }) => name.length)) + 2;
  const labelWidth = LABELS.failed.length + 2;
  const lines = findings.flatMap(({ name, status, sentence, advice }) => {
    const head = `${LABELS[status].padEnd(labelWidth)}${name.padEnd(nameWidth)}`;
    const more = advice === null ? [] : [`${"".padEnd(head.length)}→ ${printable(advice)}`];
    return [`${head}${printable(sentence)}`, ...more];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function describeCount(count: number): string {
  return count === 1 ? "One check" : `${count} checks`;
}
