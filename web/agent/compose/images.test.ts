import { expect, test } from "vitest";
import { limits } from "#contract/limits.ts";
import { fitTogether, IMAGES_MOST, type ImagePart, readImage } from "./images.ts";

const image = (chars: number): ImagePart => ({
  type: "image",
  media_type: "image/png",
  data_b64: "a".repeat(chars),
});

test("pictures fit together as long as one request can carry them", () => {
  expect(fitTogether([image(limits.image_b64_chars)])).toBe(true);
  expect(fitTogether([image(limits.image_b64_chars), image(limits.image_b64_chars)])).toBe(false);
  expect(fitTogether(Array.from({ length: IMAGES_MOST + 1 }, () => image(1)))).toBe(false);
});

test("what is no picture is refused in words", async () => {
  await expect(readImage(new Blob(["x"], { type: "text/plain" }))).rejects.toThrow(
    "text/plain is no picture",
  );
  await expect(readImage(new Blob(["x"]))).rejects.toThrow("this is no picture");
});

test("a small picture is sent as it is", async () => {
  const part = await readImage(new Blob([new Uint8Array([1, 2, 3])], { type: "image/png" }));
  expect(part).toEqual({ type: "image", media_type: "image/png", data_b64: "AQID" });
});
