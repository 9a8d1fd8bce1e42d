import { chooseEncoding } from "./accepted-encoding.ts";
import { type PageFile, type PageFiles, readPageFiles } from "./page-files.ts";
import { describePageHeaders } from "./page-headers.ts";

interface PageRequest {
  readonly path: string;
  readonly header: (name: string) => string | undefined;
}

/** The web page: a handful of files that hold no secret, for everybody who may reach this server. */
export interface Page {
  /** Undefined for a path that is none of its own. */
  answer(request: PageRequest): Response | undefined;
}

/** Reads the folder for the first who asks, and keeps what it had then: a build meanwhile mixes no two pages. */
export function createPage(folder: string): Page {
  let files: PageFiles | undefined;
  return {
    answer: (request) => {
      files ??= readPageFiles(folder);
      if (files === undefined) return request.path === "/" ? notBuilt(request) : undefined;
      const file = files.get(request.path);
      return file === undefined ? undefined : toResponse(file, request);
    },
  };
}

function toResponse(file: PageFile, { header }: PageRequest): Response {
  const { bodies, hash, isImmutable, type } = file;
  const encoding = chooseEncoding(header("accept-encoding"), (name) => name in bodies);
  const body = bodies[encoding] ?? bodies.identity;
  const headers = {
    // Also with a 304: what it says takes the place of what the browser has kept.
    ...describePageHeaders(header("host") ?? ""),
    "Cache-Control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
    ETag: `"${hash}-${encoding}"`,
    Vary: "Accept-Encoding",
  };
  if (isKnown(header("if-none-match"), hash)) return new Response(null, { status: 304, headers });
  return new Response(body, {
    headers: {
      ...headers,
      "Content-Type": type,
      "Content-Length": String(body.length),
      ...(encoding === "identity" ? {} : { "Content-Encoding": encoding }),
    },
  });
}

/** In whatever encoding the browser has it. */
function isKnown(tags: string | undefined, hash: string): boolean {
  const known = tags?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return known.some((tag) => tag === "*" || tag.startsWith(`"${hash}-`));
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Reins</title>
<h1>The page is not built</h1>
<p>The server runs, and everything but its page is there. In a checkout of Reins <code>npm run build:web</code>
builds the page; then load this address again. <code>npm start</code> does both.</p>
</html>
`;

function notBuilt({ header }: PageRequest): Response {
  return new Response(NOT_BUILT, {
    status: 503,
    headers: {
      ...describePageHeaders(header("host") ?? ""),
      "Cache-Control": "no-store",
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(NOT_BUILT)),
    },
  });
}
