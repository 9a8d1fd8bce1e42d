// The entry of the thread that draws screens: it answers each request, and knows nothing of who asks.
import { parentPort } from "node:worker_threads";
import { asFault, toFaultBody } from "#contract/fault.ts";
import type { FromWorker, ToWorker } from "./requests.ts";
import { ScreenCache } from "./screen-cache.ts";

const cache = new ScreenCache();
const port = parentPort;

port?.on("message", ({ id, request }: ToWorker) => {
  const post = (message: FromWorker) => port.postMessage(message);
  void cache.render(request).then(
    (answer) => post({ id, answer }),
    (error: unknown) => post({ id, fault: toFaultBody(asFault(error)) }),
  );
});
