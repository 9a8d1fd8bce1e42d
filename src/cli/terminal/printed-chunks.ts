import type { Attachment } from "#client/attach/attachment.ts";
import { channels } from "#contract/channels.ts";
import type { LogChunk } from "#log/log-source.ts";

/** The output of a session, up to its exit. `onCut` hears of lost connections; the attachment opens the next. */
export async function* chunksOf(
  attachment: Attachment,
  onCut: () => void = () => undefined,
): AsyncGenerator<LogChunk, void, void> {
  try {
    for await (const event of attachment) {
      if (event.type === "failed") throw event.fault;
      if (event.type === "exit") return;
      if (event.type === "lost") onCut();
      if (event.type === "gap") yield { kind: "gap", from: event.from, to: event.to };
      if (event.type !== "output") continue;
      const { offset, bytes, channel } = event;
      yield { kind: "bytes", at_ms: 0, offset, bytes, channel: channels[channel] };
    }
  } finally {
    void attachment.detach();
  }
}
