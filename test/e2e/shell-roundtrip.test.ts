import fc from "fast-check";
import { expect, test } from "vitest";
import { repeats } from "#test/harness/repeats.ts";
import { openTestShells } from "#test/harness/shells.ts";

const RUNS = repeats({ few: 6, full: 25 });

/** Any byte but NUL, those that mean something to bash more often. */
const byte = fc.oneof(
  fc.integer({ min: 1, max: 255 }),
  fc.constantFrom(...Buffer.from("\n\t $`\"'\\!*?[]{}()<>|&;#~=%^@+-a\x01\x7f\x1b")),
  fc.constantFrom(0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xff),
);
const bytes = (minLength: number) =>
  fc.array(byte, { minLength, maxLength: 24 }).map((list) => Buffer.from(list));

const state = fc.record({
  values: fc.array(bytes(0), { minLength: 1, maxLength: 6 }),
  list: fc.array(bytes(0), { maxLength: 6 }),
  map: fc.array(fc.tuple(bytes(1), bytes(0)), { maxLength: 6 }),
  said: bytes(0),
});

type State = typeof state extends fc.Arbitrary<infer T> ? T : never;

/** As bash reads it back byte by byte, whatever the locale. */
function ansi(value: Buffer): string {
  return `$'${[...value].map((each) => `\\x${each.toString(16).padStart(2, "0")}`).join("")}'`;
}

function byText(left: Buffer, right: Buffer): number {
  return left.compare(right);
}

test("values, arrays and functions of any bytes come through two runs as they were", async () => {
  await using shells = await openTestShells();
  const roundTrip = async ({ values, list, map, said }: State) => {
    const shell_id = await shells.create();
    const names = values.map((_, index) => `v${index}`);
    const lines = [
      ...values.map((value, index) => `v${index}=${ansi(value)}`),
      `list=(${list.map(ansi).join(" ")})`,
      "declare -A map",
      ...map.map(([key, value]) => `map+=([${ansi(key)}]=${ansi(value)})`),
      `say() { printf '%s\\0' ${ansi(said)}; }`,
    ];
    await shells.run(shell_id, lines.join("\n"));
    await shells.run(shell_id, ":");
    const tell = [
      "say",
      ...names.map((name) => `printf '%s\\0' "$${name}"`),
      'for n in "$' + "{!list[@]}\"; do printf '%s\\0' \"$" + '{list[n]}"; done',
    ];
    const { stdoutBytes, stderr } = await shells.run(shell_id, tell.join("\n"));
    const expected = [said, ...values, ...list].map((value) =>
      Buffer.concat([value, Buffer.of(0)]),
    );
    expect({ stderr, out: stdoutBytes.toString("hex") }).toEqual({
      stderr: "",
      out: Buffer.concat(expected).toString("hex"),
    });
    const pairs =
      'for k in "$' + '{!map[@]}"; do printf \'%s\\0%s\\1\\0\' "$k" "$' + '{map[$k]}"; done';
    const told = await shells.run(shell_id, pairs);
    const wanted = [...new Map(map.map(([key, value]) => [key.toString("hex"), value]))].map(
      ([key, value]) =>
        Buffer.concat([Buffer.from(key, "hex"), Buffer.of(0), value, Buffer.of(1, 0)]),
    );
    expect(told.stdoutBytes.length).toBe(Buffer.concat(wanted).length);
    for (const pair of wanted.toSorted(byText)) expect(told.stdoutBytes.includes(pair)).toBe(true);
    await shells.operations["shell.close"]({ shell_id });
  };
  await fc.assert(fc.asyncProperty(state, roundTrip), { numRuns: RUNS });
});
