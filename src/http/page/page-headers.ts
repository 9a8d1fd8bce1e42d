/** What the page has no use for; the clipboard and notifications stay as the browser has them. */
const CLOSED = [
  ...["accelerometer", "browsing-topics", "camera", "display-capture", "encrypted-media"],
  ...["geolocation", "gyroscope", "hid", "idle-detection", "magnetometer", "microphone", "midi"],
  ...["payment", "publickey-credentials-get", "serial", "usb", "xr-spatial-tracking"],
];

/** The hash of no text: xterm.js adds style elements with nothing in them. */
const EMPTY = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";

/**
 * For everything that belongs to the page. Nothing comes from elsewhere, no script stands in a document, and nobody
 * frames it. docs/web.md says why each line is there.
 */
export function describePageHeaders(host: string): Record<string, string> {
  return {
    "Content-Security-Policy": describePolicy(host),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": CLOSED.map((name) => `${name}=()`).join(", "),
  };
}

/** `host` has been checked: it is one of our own names. */
function describePolicy(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${EMPTY}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Older browsers do not count a WebSocket of the same place to 'self'.
    `connect-src 'self' ws://${host} wss://${host}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
