/** Line ends as programs know them from a keyboard. */
const LINE_END = /\r?\n/g;
/** The marks of a paste, which would begin another one or end this one. */
const PASTE_MARKS = /\x1b\[20[01]~/g;
/** All but tab and line ends: in a paste they would act as keys, and one of them could end it. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";

/** As if somebody typed it: a line end is Enter. */
export function encodeTyped(text: string): string {
  return text.replace(LINE_END, "\r");
}

/** As if somebody pasted it: marked as such only for a program that has asked for that. */
export function encodePaste(
  text: string,
  { bracketed_paste }: { readonly bracketed_paste: boolean },
): string {
  const plain = encodeTyped(text).replace(PASTE_MARKS, "").replace(CONTROLS, "");
  if (plain === "") return "";
  return bracketed_paste ? `${PASTE_START}${plain}${PASTE_END}` : plain;
}
