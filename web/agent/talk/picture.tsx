import { useEffect, useRef, useState } from "react";
import type { MessagePart } from "#contract/agent/message.ts";
import css from "./talk.module.css";

type ImagePart = Extract<MessagePart, { type: "image" }>;

const SIDE_MOST = 2000;

/** Painted on a canvas: so it needs no address, and no policy has to allow one. */
export function Picture({ part, label }: { readonly part: ImagePart; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  const { data_b64, media_type } = part;
  useEffect(() => {
    if (data_b64 === undefined) return;
    let isGone = false;
    paint(data_b64, media_type, () => (isGone ? null : canvas.current)).catch(() => {
      if (!isGone) setBroken(true);
    });
    return () => {
      isGone = true;
    };
  }, [data_b64, media_type]);
  if (data_b64 === undefined)
    return <p className={css.note}>A picture ({media_type}) that is kept beside the session.</p>;
  if (isBroken) return <p className={css.note}>A picture ({media_type}) that cannot be shown.</p>;
  return <canvas ref={canvas} className={css.picture} role="img" aria-label={label} />;
}

async function paint(
  base64: string,
  type: string,
  find: () => HTMLCanvasElement | null,
): Promise<void> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type }));
  const canvas = find();
  if (canvas !== null) {
    const scale = Math.min(1, SIDE_MOST / Math.max(image.width, image.height));
    canvas.width = Math.max(1, Math.round(image.width * scale));
    canvas.height = Math.max(1, Math.round(image.height * scale));
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  }
  image.close();
}
