interface Size {
  readonly width: number;
  readonly height: number;
}

interface Edges {
  readonly top: number;
  readonly bottom: number;
  readonly right: number;
}

/** Between a menu and its button, and between a menu and the edge of the page. */
const GAP_PX = 4;

/** Below its button and flush with its right edge; above it where there is more room. */
export function placeMenu(anchor: Edges, menu: Size, page: Size): { left: number; top: number } {
  const below = anchor.bottom + GAP_PX;
  const above = anchor.top - GAP_PX - menu.height;
  const fitsBelow = below + menu.height + GAP_PX <= page.height;
  const top = fitsBelow || above < GAP_PX ? below : above;
  const lowest = Math.max(GAP_PX, page.height - menu.height - GAP_PX);
  const left = Math.min(anchor.right, page.width - GAP_PX) - menu.width;
  return { left: Math.max(GAP_PX, left), top: Math.min(top, lowest) };
}

/** The item that a key leads to: it goes around, and a letter leads to the next item that begins with it. */
export function moveItem(key: string, at: number, labels: readonly string[]): number | undefined {
  const count = labels.length;
  if (count === 0) return undefined;
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return at <= 0 ? count - 1 : at - 1;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLowerCase();
  const order = labels.map((_, step) => (at + 1 + step) % count);
  return order.find((index) => labels[index]?.toLowerCase().startsWith(letter));
}
