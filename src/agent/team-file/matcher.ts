type Matcher =
  | { readonly ok: true; readonly matcher: RegExp | undefined }
  | { readonly ok: false; readonly problem: string };

/** Of a tool's whole name; nothing and `*` are every tool. */
export function parseMatcher(text: string | undefined): Matcher {
  if (text === undefined || text === "*") return { ok: true, matcher: undefined };
  try {
    // Alone first: `a)(b` is only a pattern between the parentheses of the anchored one.
    const { source } = new RegExp(text);
    return { ok: true, matcher: new RegExp(`^(?:${source})$`) };
  } catch (error) {
    return { ok: false, problem: explain(error) };
  }
}

/** Without the engine's `Invalid regular expression: /…/: `. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^Invalid regular expression: .*\/[a-z]*: /s, "");
}
