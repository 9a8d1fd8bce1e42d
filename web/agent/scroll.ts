import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

/** So near to the end counts as there: a reader's wheel does not stop on the pixel. */
const NEAR_PX = 48;

export interface Scroll {
  readonly isBehind: boolean;
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
  const [isBehind, setBehind] = useState(false);
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    isAtEnd.current = true;
    setBehind(false);
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
      const hasGrown = element.scrollHeight > before.current.height;
      before.current = { ...before.current, height: element.scrollHeight };
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
      else if (hasGrown) setBehind(true);
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
    if (isAtEnd.current) setBehind(false);
  }, [scroller]);
  return { isBehind, onScroll, toEnd };
}
