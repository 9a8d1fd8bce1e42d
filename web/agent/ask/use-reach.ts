import { type RefObject, useCallback, useLayoutEffect, useState } from "react";

/** A pixel of rounding is not a line of text. */
const SLACK_PX = 1;
/** Share of the visible part, so that the last line stays in view. */
const PAGE = 0.75;

export interface Reach {
  /** The end of the content has been in view. */
  readonly isSeen: boolean;
  /** Brings the next part into view. */
  readonly readOn: () => void;
}

interface ReachParts {
  readonly content: RefObject<HTMLElement | null>;
  /** It sticks to the bottom of the scroller, over what is not in view yet. */
  readonly row: RefObject<HTMLElement | null>;
}

/** Whether a reader can have seen all of the content, which ends where the row begins. */
export function useReach({ content, row }: ReachParts): Reach {
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    const [above, below] = [content.current, row.current];
    if (above === null || below === null) return undefined;
    const measure = () => {
      const end = above.getBoundingClientRect().bottom;
      if (end <= below.getBoundingClientRect().top + SLACK_PX) setSeen(true);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(above);
    observer.observe(below);
    // Scrolling does not bubble.
    window.addEventListener("scroll", measure, { capture: true, passive: true });
    measure();
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", measure, { capture: true });
    };
  }, [content, row]);
  const readOn = useCallback(() => {
    const scroller = content.current?.closest("[data-scroller]");
    scroller?.scrollBy({ top: scroller.clientHeight * PAGE });
  }, [content]);
  return { isSeen, readOn };
}
