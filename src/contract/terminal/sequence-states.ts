/**
 * The states of a terminal's parser (https://vt100.net/emu/dec_ansi_parser), numbered and connected as in xterm.js
 * 6.0.0; a test compares every transition. `ground` is outside of any sequence.
 */
export const states = {
  ground: 0,
  escape: 1,
  escapeIntermediate: 2,
  csiEntry: 3,
  csiParameter: 4,
  csiIntermediate: 5,
  csiIgnore: 6,
  /** SOS, PM and APC. */
  privateString: 7,
  osc: 8,
  dcsEntry: 9,
  dcsParameter: 10,
  dcsIgnore: 11,
  dcsIntermediate: 12,
  dcsPayload: 13,
} as const;

/** Stands for every character that is neither ASCII nor a control. */
export const PRINTABLE = 0xa0;
const CODES = PRINTABLE + 1;

/** Columns: 20-2f, 30-3b, 3c-3f, 40-7e, non-ASCII. Controls stay where they are, unless a rule below says otherwise. */
type Row = readonly [number, number, number, number, number];
const { ground, osc, privateString } = states;
const rows: readonly Row[] = [
  [ground, ground, ground, ground, ground],
  [states.escapeIntermediate, ground, ground, ground, ground],
  [states.escapeIntermediate, ground, ground, ground, ground],
  [states.csiIntermediate, states.csiParameter, states.csiParameter, ground, ground],
  [states.csiIntermediate, states.csiParameter, states.csiIgnore, ground, ground],
  [states.csiIntermediate, states.csiIgnore, states.csiIgnore, ground, ground],
  [states.csiIgnore, states.csiIgnore, states.csiIgnore, ground, states.csiIgnore],
  [privateString, privateString, privateString, privateString, ground],
  [osc, osc, osc, osc, osc],
  [states.dcsIntermediate, states.dcsParameter, states.dcsParameter, states.dcsPayload, ground],
  [states.dcsIntermediate, states.dcsParameter, states.dcsIgnore, states.dcsPayload, ground],
  [states.dcsIgnore, states.dcsIgnore, states.dcsIgnore, states.dcsIgnore, states.dcsIgnore],
  [states.dcsIntermediate, states.dcsIgnore, states.dcsIgnore, states.dcsPayload, ground],
  [states.dcsPayload, states.dcsPayload, states.dcsPayload, states.dcsPayload, states.dcsPayload],
];

/** The characters that introduce a sequence: behind an ESC, and as a single C1 character. */
const introducers: readonly (readonly [final: string, c1: number, state: number])[] = [
  ["P", 0x90, states.dcsEntry],
  ["X", 0x98, privateString],
  ["[", 0x9b, states.csiEntry],
  ["]", 0x9d, osc],
  ["^", 0x9e, privateString],
  ["_", 0x9f, privateString],
];

const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
const SPACE = 0x20;
const DEL = 0x7f;
const C1_FROM = 0x80;

const transitions = listTransitions();

/** The state behind a character: a code up to 0x9f, or `PRINTABLE`. */
export function nextState(state: number, code: number): number {
  return transitions[state * CODES + code] ?? ground;
}

export function isString(state: number): boolean {
  return state >= privateString;
}

function listTransitions(): Uint8Array {
  const table = new Uint8Array(rows.length * CODES);
  rows.forEach((row, state) => {
    for (let code = 0; code < CODES; code += 1)
      table[state * CODES + code] = behind(row, state, code);
    for (const [final, c1, to] of introducers) {
      table[state * CODES + c1] = to;
      if (state === states.escape) table[state * CODES + final.charCodeAt(0)] = to;
    }
  });
  table[osc * CODES + BEL] = ground;
  return table;
}

function behind(row: Row, state: number, code: number): number {
  if (code === ESC) return states.escape;
  if (code === CAN || code === SUB) return ground;
  if (code < SPACE || code === DEL) return state;
  if (code === PRINTABLE) return row[4];
  if (code >= C1_FROM) return ground;
  if (code >= 0x40) return row[3];
  if (code >= 0x3c) return row[2];
  return code >= 0x30 ? row[1] : row[0];
}
