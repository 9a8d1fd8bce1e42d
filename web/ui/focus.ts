/** In one of these a person is busy already. */
const TAKEN = "input, textarea, select, [contenteditable], .xterm *";

/**
 * Moves the focus to what a person uses next. It stays where they type already, and under a dialog; and on glass, where
 * it would open a keyboard over the page.
 */
export function offerFocus(element: HTMLElement | null | undefined): void {
  const isTaken = document.activeElement?.matches(TAKEN) === true;
  if (!isTaken && document.querySelector("dialog:modal") === null) moveFocus(element);
}

/** The same after something that a person did, wherever the focus is. */
export function moveFocus(element: HTMLElement | null | undefined): void {
  if (!hasCoarsePointer()) element?.focus();
}

/** A finger, and a keyboard on glass. */
export function hasCoarsePointer(): boolean {
  return window.matchMedia("(pointer: coarse)").matches;
}
