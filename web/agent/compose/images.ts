import { toBase64 } from "#client/transport/base64.ts";
import type { MessagePart } from "#contract/agent/message.ts";
import { limits } from "#contract/limits.ts";

export type ImagePart = Extract<MessagePart, { type: "image" }>;

export const IMAGES_MOST = 4;
/** A request carries no more, words and all. */
const TOGETHER_CHARS = limits.body_bytes - 128 * 1024;
const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Each is tried until one is small enough. */
const SIDES = [2000, 1400, 1000, 700];
const QUALITY = 0.82;

/** A picture as a message carries it; one that is too large is made smaller. */
export async function readImage(file: Blob): Promise<ImagePart> {
  if (!TYPES.includes(file.type))
    throw new Error(`${file.type === "" ? "this" : file.type} is no picture that agents can see`);
  const whole = await asPart(file);
  if (fits(whole)) return whole;
  const image = await createImageBitmap(file);
  try {
    for (const side of SIDES) {
      const part = await asPart(await shrink(image, side));
      if (fits(part)) return part;
    }
  } finally {
    image.close();
  }
  throw new Error("this picture is too large, also when it is made smaller");
}

/** Whether they can be sent in one message. */
export function fitTogether(images: readonly ImagePart[]): boolean {
  const chars = images.reduce((sum, { data_b64 = "" }) => sum + data_b64.length, 0);
  return images.length <= IMAGES_MOST && chars <= TOGETHER_CHARS;
}

function fits({ data_b64 = "" }: ImagePart): boolean {
  return data_b64.length <= limits.image_b64_chars;
}

async function asPart(blob: Blob): Promise<ImagePart> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return { type: "image", media_type: blob.type, data_b64: toBase64(bytes) };
}

async function shrink(image: ImageBitmap, side: number): Promise<Blob> {
  const scale = Math.min(1, side / Math.max(image.width, image.height));
  const [width, height] = [Math.ceil(image.width * scale), Math.ceil(image.height * scale)];
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  return await canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY });
}
