import { useCallback, useState } from "react";
import type { Framing, MessagePart } from "#contract/agent/message.ts";
import { limits } from "#contract/limits.ts";
import { useAgent } from "#web/agent/agent-context.ts";
import { findDraft, keepDraft } from "#web/agent/drafts.ts";
import { type Action, useAction } from "#web/agent/use-action.ts";
import { useApp } from "#web/app/context.ts";
import { fitTogether, IMAGES_MOST, type ImagePart, readImage } from "./images.ts";

export type Way = "send" | "steer" | "followup";

export interface Composing {
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly framing: Framing;
  readonly sending: Action;
  readonly setText: (text: string) => void;
  readonly setFraming: (framing: Framing) => void;
  readonly addImages: (files: readonly Blob[]) => void;
  readonly dropImage: (at: number) => void;
  readonly submit: (way: Way) => void;
}

/** What is being written to the agent. It stays until the server has it. */
export function useComposer(): Composing {
  const { agent, session } = useAgent();
  const { session_id } = session;
  const [text, changeText] = useState(() => findDraft(session_id));
  const [images, setImages] = useState<readonly ImagePart[]>([]);
  const [framing, setFraming] = useState<Framing>("plain");
  const sending = useAction();
  const send = useSend();
  const setText = useCallback(
    (next: string) => {
      changeText(next);
      keepDraft(session_id, next);
    },
    [session_id],
  );
  const addImages = (files: readonly Blob[]) =>
    void sending.run(async () => {
      const read = await Promise.all(files.slice(0, IMAGES_MOST).map(readImage));
      const all = [...images, ...read];
      if (!fitTogether(all))
        throw new Error(
          `a message carries at most ${IMAGES_MOST} pictures, and these are too many or too large`,
        );
      setImages(all);
    });
  const submit = (way: Way) => {
    if (sending.isBusy || (text.trim() === "" && images.length === 0)) return;
    const said: MessagePart[] = text.trim() === "" ? [] : [{ type: "text", text }];
    void sending.run(async () => {
      if (text.length > limits.message_chars)
        throw new Error(`a message has at most ${limits.message_chars} characters`);
      await send({ way, content: [...said, ...images], framing });
      agent.said.change((count) => count + 1);
      setText("");
      setImages([]);
      setFraming("plain");
    });
  };
  const dropImage = (at: number) => setImages(images.filter((_, place) => place !== at));
  return { text, images, framing, sending, setText, setFraming, addImages, dropImage, submit };
}

interface Sent {
  readonly way: Way;
  readonly content: MessagePart[];
  readonly framing: Framing;
}

function useSend(): (sent: Sent) => Promise<unknown> {
  const { client } = useApp();
  const { session_id } = useAgent().session;
  return useCallback(
    ({ way, content, framing }) => {
      // With a key of its own it can be sent again through a cut, and is still said once.
      const input = { session_id, messages: [{ content }], idempotency_key: createKey() };
      if (way === "steer") return client.call("agent.steer", { ...input, framing });
      if (way === "followup") return client.call("agent.followup", input);
      return client.call("agent.send", input);
    },
    [client, session_id],
  );
}

/** Not crypto.randomUUID, which a page that came over plain HTTP does not have. */
function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
