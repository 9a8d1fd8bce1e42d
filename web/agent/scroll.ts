import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** So near to the end counts as there: a reader's wheel does not stop on the pixel. */
const NEAR_PX = 48;

interface Scroll {
  /** The reader has gone up from the end. */
  readonly isAway: boolean;
  readonly onScroll: () => void;
  readonly toEnd: () => void;
}

/**
 * Stays at the end while it grows, unless the reader has gone up. What is put in front (`first` has become smaller) moves
 * nothing that is in view.
 */
export function useStickToEnd(scroller: RefObject<HTMLElement | null>, first: number): Scroll {
  const isAtEnd = useRef(true);
  const before = useRef({ first, height: 0 });
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    isAtEnd.current = true;
    setAway(false);
    element.scrollTop = element.scrollHeight;
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    if (first < before.current.first && !isAtEnd.current)
      element.scrollTop += element.scrollHeight - before.current.height;
    before.current = { first, height: element.scrollHeight };
  }, [scroller, first]);
  useLayoutEffect(() => {
    const element = scroller.current;
    const content = element?.firstElementChild;
    if (element === null || content === null || content === undefined) return;
    const settle = () => {
      before.current = { ...before.current, height: element.scrollHeight };
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    };
    // Of the content as it grows, and of the view as a keyboard comes up.
    const observer = new ResizeObserver(settle);
    observer.observe(content);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    isAtEnd.current = left < NEAR_PX;
    setAway(!isAtEnd.current);
  }, [scroller]);
  return { isAway, onScroll, toEnd };
}

/** How many came since the reader left the end; what is put in front does not count. */
export function useNewCount(items: readonly { readonly key: string }[], isAway: boolean): number {
  const seen = useRef(items.at(-1)?.key);
  const last = items.at(-1)?.key;
  useEffect(() => {
    if (!isAway) seen.current = last;
  }, [isAway, last]);
  return isAway ? countAfter(items, seen.current) : 0;
}

export function countAfter(
  items: readonly { readonly key: string }[],
  seen: string | undefined,
): number {
  return items.length - 1 - items.findLastIndex(({ key }) => key === seen);
}
