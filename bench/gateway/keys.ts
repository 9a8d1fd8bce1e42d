import type { Viewer } from "./viewer.ts";

/** Milliseconds from each key to its echo. Fewer than a line of a terminal may hold, which is 4095. */
export async function timeKeys(viewer: Viewer, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let key = 0; key < count; key += 1) {
    const echoed = viewer.until(viewer.received + 1);
    const started = performance.now();
    viewer.type("x");
    times.push((await echoed) - started);
  }
  return times;
}
