// A ratchet for words: counts phrasings that readers stumble over, in comments, strings, docs and test titles.
// The counts are recorded in scripts/voice.json and may only fall.
//
//   npm run voice                  compares with the record; exits 1 when a count differs
//   npm run voice -- --write       records counts that have fallen (`npm run format` does the same)
//   npm run voice -- --list [KIND] prints every place as path:line
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const recordPath = fileURLToPath(new URL("voice.json", import.meta.url));

const PROSE = ["*.md", "docs/**/*.md", ".changes/*.md", "examples/**/*.{md,yaml}", "test/**/*.md"];
const CODE = ["{src,web,test,bench,scripts}/**/*.{ts,tsx,mjs}", "bin/*", "examples/**/*.{ts,mjs}"];

/** Each kind of phrasing with what to write instead. Matched against text whose white space is folded. */
export const kinds = {
  "free relative": {
    pattern:
      /(?<=^|[.:;!?] |[.!?]["')] )(?:What|Who|Whoever|Whatever) (?!to\b)[a-z]+\b(?![^.;]*\?)/g,
    instead: 'name the subject: "a session that has ended", "the client that types"',
  },
  "vague person": {
    pattern: /\b(?:some|no|every|any)body(?:'s| else)?\b|\bwho(?:m|so)?ever\b/gi,
    instead: '"you", or the thing: the client, another user, the caller',
  },
  "who without a noun": {
    pattern:
      /\b(?:for|to|by|of|from|with|than|only|and|or|but|as|that) who (?!you\b|we\b|they\b)[a-z]+/gi,
    instead: '"the user who …", "the client that …"',
  },
  "he for a user": {
    pattern: /\b(?:he|him|his|himself)\b/gi,
    instead: '"you", "they", or the thing',
  },
  "is no X": {
    pattern:
      /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|less\b|later\b|such\b|one\b)[a-z]+/gi,
    instead: '"is not a …"',
  },
  "is said, is told": {
    pattern: /\b(?:is|are|was|were|be|been|being) (?:said|told)\b/gi,
    instead: '"is reported", "is shown", "tells you"',
  },
  "goes on": {
    pattern: /\b(?:go|goes|going|went|gone) on\b(?! to\b)/gi,
    instead: '"continues", "keeps running"',
  },
  stands: {
    pattern:
      /\b(?:stand|stands|standing|stood) (?:in|on|at|there|behind|before|beside|above|below|under|where)\b/gi,
    instead: '"is"',
  },
  lies: {
    pattern:
      /\b(?:lies|lie|lying|lay) (?:in|on|at|there|behind|before|beside|below|under|where|between)\b/gi,
    instead: '"is", "is stored"',
  },
  "genitive opening": {
    pattern:
      /(?<=^|[.;!?] |[.!?]["')] )Of (?:a|an|the|each|all|what|those|it|its|one|two|several|every)\b/g,
    instead: "begin with the subject",
  },
  "personified server": {
    pattern:
      /\b(?:lets? (?:you|nobody|them|people|browsers?|the browser|it) in|let in|asks? again|comes? in by|went away|go(?:es)? away|gone away)\b/gi,
    instead: "sign in, retry, disconnect",
  },
  "British spelling": {
    pattern:
      /\b(?:colou?r(?<=our)\w*|behaviou\w+|honou\w+|favou\w+|neighbou\w+|centre\w*|catalogue\w*|cancell(?:ed|ing)|grey|(?:recogn|organ|initial|serial|normal|summar|virtual|optim|synchron|author|minim|maxim|emphas|util|custom)is(?:e|es|ed|ing|ation)\w*)\b/gi,
    instead: "American spelling",
  },
};

/** The texts of one file, each with the offset at which it begins. */
export function* textsOf(path, source) {
  if (!/\.(?:ts|tsx|mjs)$/.test(path)) {
    yield* paragraphsOf(source);
    return;
  }
  for (const found of source.matchAll(TOKENS)) {
    const { comments, block, quoted, template } = found.groups;
    const text = comments ?? block ?? quoted ?? template;
    if (text === undefined) continue;
    const words = template === undefined ? text : text.replaceAll(/\$\{[^}]*\}/g, "x");
    yield { at: found.index, text: fold(words.replaceAll(/^\s*(?:\/\/|\/?\*+\/?)/gm, " ")) };
  }
  if (!path.endsWith(".tsx")) return;
  for (const found of source.matchAll(/>([^<>{}=;()]*[a-z] [^<>{}=;()]*)</g))
    yield { at: found.index, text: fold(found[1]) };
}

// Line comments that follow each other are one text. A regular expression is recognized by what precedes it.
const TOKENS =
  /(?<comments>(?:\/\/[^\n]*(?:\n[ \t]*(?=\/\/))?)+)|(?<block>\/\*[\s\S]*?\*\/)|(?<quoted>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<template>`(?:\\.|\$\{(?:[^`{}]|`(?:\\.|[^`\\])*`|\{[^{}]*\})*\}|[^`\\])*`)|(?<=[=(,:!&|?{};+[]\s*|\breturn\s)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*/g;

/** Paragraphs, list items and rows of tables outside of fenced code. */
function* paragraphsOf(source) {
  const prose = source.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1`*$/gm, (code) =>
    code.replaceAll(/[^\n]/g, " "),
  );
  for (const found of prose.matchAll(/[^\n|]+(?:\n(?!\s*(?:\n|[-*|#>]|\d+\.|\/\/))[^\n|]+)*/g))
    yield {
      at: found.index,
      text: fold(found[0].replaceAll(/^\s*(?:[-*>]|\d+\.|#+|\/\/)\s/gm, " ").replaceAll("**", "")),
    };
}

function fold(text) {
  return text
    .replaceAll(/^["'`]|["'`]$/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Every place that matches a kind. */
export function findPhrases(path, source) {
  const places = [];
  for (const { at, text } of textsOf(path, source)) {
    for (const [kind, { pattern }] of Object.entries(kinds)) {
      for (const [words] of text.matchAll(pattern))
        places.push({ kind, path, line: source.slice(0, at).split("\n").length, words });
    }
  }
  return places;
}

function findAll() {
  const own = fileURLToPath(import.meta.url);
  const paths = globSync([...PROSE, ...CODE], {
    cwd: root,
    exclude: ["**/node_modules/**", "dist/**"],
  });
  return paths
    .filter((path) => path !== relative(root, own) && !path.endsWith("voice.test.ts"))
    .sort()
    .flatMap((path) => findPhrases(path, readFileSync(`${root}/${path}`, "utf8")));
}

function countKinds(places) {
  const counts = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0]));
  for (const { kind } of places) counts[kind] += 1;
  return counts;
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Sentences for each kind whose count is not the recorded one. */
export function compareCounts(counts, recorded) {
  return Object.entries(counts).flatMap(([kind, count]) => {
    const before = recorded[kind] ?? 0;
    if (count > before)
      return [
        `${kind}: ${count}, recorded ${before}. Write ${kinds[kind].instead}. Find the places with: npm run voice -- --list "${kind}"`,
      ];
    if (count < before)
      return [`${kind}: ${count}, recorded ${before}. Record the lower count with: npm run format`];
    return [];
  });
}

function main() {
  const { values, positionals } = parseArgs({
    options: { write: { type: "boolean" }, list: { type: "boolean" } },
    allowPositionals: true,
  });
  const places = findAll();
  const counts = countKinds(places);
  if (values.list) {
    const [wanted] = positionals;
    for (const { kind, path, line, words } of places)
      if (wanted === undefined || wanted === kind)
        process.stdout.write(`${path}:${line}: ${kind}: ${words}\n`);
    return;
  }
  const recorded = JSON.parse(readFileSync(recordPath, "utf8"));
  if (values.write) {
    const lower = Object.fromEntries(
      Object.entries(counts).map(([kind, count]) => [
        kind,
        Math.min(count, recorded[kind] ?? count),
      ]),
    );
    writeFileSync(recordPath, `${JSON.stringify(lower, null, 2)}\n`);
  }
  const problems = compareCounts(counts, JSON.parse(readFileSync(recordPath, "utf8")));
  for (const problem of problems) process.stdout.write(`voice: ${problem}\n`);
  process.stdout.write(`voice: ${sum(counts)} phrasings to rewrite\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
