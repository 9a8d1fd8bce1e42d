// The entry of the process that draws screens: it answers each request, and knows nothing of its callers.
import { asFault, toFaultBody } from "#contract/fault.ts";
import type { FromWorker, ToWorker } from "./requests.ts";
import { ScreenCache } from "./screen-cache.ts";

/** While it draws it shows this often that it is not stuck. */
const BEAT_MS = 1000;

const cache = new ScreenCache();
let drawing = 0;

// A signal to the whole process group is for the server. This process ends when the server closes the channel.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
process.on("disconnect", () => process.exit());
process.on("message", ({ id, request }: ToWorker) => {
  drawing += 1;
  void cache
    .render(request)
    .then(
      (answer) => post({ id, answer }),
      (error: unknown) => post({ id, fault: toFaultBody(asFault(error)) }),
    )
    .finally(() => {
      drawing -= 1;
    });
});
setInterval(() => {
  if (drawing > 0) post({ beat: drawing });
}, BEAT_MS).unref();
post({ beat: drawing });

function post(message: FromWorker): void {
  // A server that has gone needs no answer, and `disconnect` follows.
  if (process.connected) process.send?.(message);
}
