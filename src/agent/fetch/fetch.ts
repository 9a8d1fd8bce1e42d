import * as z from "zod";
import { cutText, type DefinedTool, defineTool, reads } from "#agent/define-tool.ts";
import type { ToolsetConfig } from "#agent/team/team.ts";
import type { ToolContext, ToolOutcome } from "#agent/toolset.ts";
import type { Clock } from "#base/clock.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { htmlToText } from "./html-text.ts";
import type { Got, Lookup } from "./http-get.ts";

type FetchConfig = Extract<ToolsetConfig, { type: "fetch" }>;

interface FetchDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly lookup?: Lookup | undefined;
}

const FETCH_MS = 30_000;
const SHOWN_BYTES = 64 * 1024;
const SHOWN_MOST_BYTES = limits.tool_result_bytes - 4096;
const IMAGE_BYTES = Math.floor(limits.image_b64_chars / 4) * 3;
const URL_CHARS = 8192;

const Fetch = z.strictObject({
  url: z.string().min(1).max(URL_CHARS).describe("The address, with http:// or https://."),
  format: z
    .enum(["text", "markdown", "html"])
    .optional()
    .describe(
      "How to show a web page: markdown (default) keeps headings and links, html is as it came.",
    ),
  max_bytes: z
    .int()
    .min(1024)
    .max(SHOWN_MOST_BYTES)
    .optional()
    .describe("How much of the text to show at most. Default 65536."),
});
type Fetch = z.output<typeof Fetch>;

/** Reads public addresses of the web. */
export function createFetchTool(config: FetchConfig, deps: FetchDeps): DefinedTool {
  return defineTool({
    name: "fetch",
    description:
      "Read an address on the web: a page becomes readable text, JSON and other text stay as they are, an image is shown. It only reads (GET), follows redirects and does not run scripts. Private and local addresses may be refused; for a server that you have started yourself use curl in the shell.",
    input: Fetch,
    hints: reads,
    run: (input, context) => run(config, deps, { input, context }),
  });
}

async function run(
  config: FetchConfig,
  deps: FetchDeps,
  { input, context }: { readonly input: Fetch; readonly context: ToolContext },
): Promise<ToolOutcome> {
  const late = new AbortController();
  const ms = config.timeout_ms ?? FETCH_MS;
  using _timer = deps.clock.timer(ms, () =>
    late.abort(new Fault("invalid_request", `no whole answer came within ${ms / 1000} seconds`)),
  );
  const signal = AbortSignal.any([context.signal, late.signal]);
  const { allow_private, allow_hosts } = config;
  const policy = { allow_private, allow_hosts, lookup: deps.lookup, version: deps.version };
  // With it comes Node's own http, which a worker that fetches nothing need not wait for.
  const { httpGet } = await import("./http-get.ts");
  return describeGot(await httpGet(input.url, policy, { signal }), input);
}

function describeGot(
  got: Got,
  { url, format = "markdown", max_bytes = SHOWN_BYTES }: Fetch,
): ToolOutcome {
  const type = got.content_type.split(";")[0]?.trim().toLowerCase() ?? "";
  const moved = got.url === new URL(url).href ? "" : `, from ${got.url}`;
  const cut = got.isCut ? ", cut: it is longer" : "";
  const head = `[status ${got.status}, ${type === "" ? "no content type" : type}${moved}${cut}]`;
  const is_error = got.status >= 400;
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(type) && !got.isCut && got.body.length <= IMAGE_BYTES)
    return {
      output: head,
      is_error,
      images: [{ type: "image", media_type: type, data_b64: got.body.toString("base64") }],
    };
  const text = decodeBody(got, type);
  if (text === undefined)
    return { output: `${head}\n[${got.body.length} bytes that are no text]`, is_error };
  const isPage = type === "text/html" || type === "application/xhtml+xml";
  const shown =
    isPage && format !== "html"
      ? htmlToText(text, { markdown: format === "markdown", url: got.url })
      : text;
  return { output: `${head}\n${cutText(shown, max_bytes)}`, is_error };
}

/** In the letters that the answer names; undefined when it is no text. */
function decodeBody({ content_type, body }: Got, type: string): string | undefined {
  if (/^(?:image|audio|video|font)\/(?!svg)/.test(type)) return undefined;
  if (body.subarray(0, 8192).includes(0)) return undefined;
  const label = /charset\s*=\s*"?([\w:.-]{1,40})/i.exec(content_type)?.[1] ?? "utf-8";
  return createDecoder(label).decode(body);
}

function createDecoder(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    // A name that nobody knows.
    return new TextDecoder();
  }
}
