import { isObject } from "./is-object.ts";

/** The object that a JSON text holds; undefined for other values and for text that is not JSON. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The caller says what is wrong with the text.
    return undefined;
  }
}
