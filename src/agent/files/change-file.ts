import {
  CHANGED_FILE_BYTES,
  findFile,
  hasOnlyCrlf,
  inMannerOf,
  replaceFile,
  toCrlf,
  withPlace,
} from "./file-content.ts";
import { type FileScope, refused } from "./file-scope.ts";

/** Named in an error; more places than that say nothing more. */
const LINES_NAMED = 10;

interface Edit {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | undefined;
}

/** The whole content, in the manner of what was there. */
export function writeFile(scope: FileScope, path: string, content: string): string {
  checkText("content", content);
  return withPlace(scope, { path, make: true }, (place) => {
    const name = scope.name(place.real);
    const found = findFile(place, path);
    const next = found?.text === undefined ? content : inMannerOf(found.text, content);
    replaceFile(place, next, { path, old: found?.stats });
    const bytes = Buffer.byteLength(next);
    if (found === undefined) return `wrote ${name}, a new file of ${bytes} bytes`;
    const note = next === content ? "" : "; it keeps its line ends and byte order mark";
    return `wrote ${name}, ${bytes} bytes instead of ${found.stats.size}${note}`;
  });
}

/** All edits or none. Each is applied to what the ones before it have made. */
export function editFile(scope: FileScope, path: string, edits: readonly Edit[]): string {
  return withPlace(scope, { path, make: false }, (place) => {
    const found = findFile(place, path);
    if (found === undefined) throw refused(`${path} does not exist; write_file makes a new file`);
    const { text, stats } = found;
    if (text === undefined)
      throw refused(
        `${path} cannot be edited: it is no UTF-8 text, or has more than ${CHANGED_FILE_BYTES} bytes`,
      );
    let next = text;
    let count = 0;
    for (const [index, edit] of edits.entries()) {
      const done = applyEdit(next, edit, `edits.${index}`);
      next = done.text;
      count += done.count;
    }
    if (Buffer.byteLength(next) > CHANGED_FILE_BYTES)
      throw refused(`${path} would have more than ${CHANGED_FILE_BYTES} bytes`);
    replaceFile(place, next, { path, old: stats });
    return `edited ${scope.name(place.real)}: ${count} ${count === 1 ? "place" : "places"}`;
  });
}

function applyEdit(text: string, edit: Edit, field: string): { text: string; count: number } {
  checkText(`${field}.new`, edit.new);
  if (edit.old === "") throw refused(`${field}.old is empty; write_file makes a new file`);
  if (edit.old === edit.new) throw refused(`${field}: old and new are the same`);
  const { from, to, places } = findPlaces(text, edit);
  if (places.length === 0)
    throw refused(
      `${field}.old was not found (0 places); nothing was changed. It must be the text exactly as it is, blanks and all; read the file again`,
    );
  if (places.length > 1 && edit.all !== true)
    throw refused(
      `${field}.old was found at ${places.length} places, ${sayLines(text, places)}; nothing was changed. Take more of the text around the right one, or set all`,
    );
  const parts: string[] = [];
  let done = 0;
  for (const place of places) {
    parts.push(text.slice(done, place), to);
    done = place + from.length;
  }
  return { text: parts.join("") + text.slice(done), count: places.length };
}

interface Places {
  readonly from: string;
  readonly to: string;
  readonly places: readonly number[];
}

/** Models write line feeds: in a file of CRLF these mean its own line ends, in a mixed one if nothing else fits. */
function findPlaces(text: string, edit: Edit): Places {
  const asIs = { from: edit.old, to: edit.new };
  const crlf = { from: toCrlf(edit.old), to: toCrlf(edit.new) };
  if (hasOnlyCrlf(text)) return { ...crlf, places: indexesOf(text, crlf.from) };
  const places = indexesOf(text, asIs.from);
  if (places.length > 0 || !text.includes("\r\n")) return { ...asIs, places };
  return { ...crlf, places: indexesOf(text, crlf.from) };
}

function indexesOf(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length))
    found.push(at);
  return found;
}

function sayLines(text: string, places: readonly number[]): string {
  const lines = places.slice(0, LINES_NAMED).map((at) => text.slice(0, at).split("\n").length);
  const more = places.length > LINES_NAMED ? ", …" : "";
  return `lines ${lines.join(", ")}${more}`;
}

function checkText(field: string, text: string): void {
  if (!text.isWellFormed()) throw refused(`${field}: half a character cannot be written as UTF-8`);
}
