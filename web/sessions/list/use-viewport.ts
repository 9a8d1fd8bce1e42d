import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from "react";
import { findDrawn, findVisible, type RowRange, scrollToShow, type Viewport } from "./windowing.ts";

interface ListShape {
  readonly rowCount: number;
  readonly rowHeight: number;
  /** Of what stays at the top while the rows move below it. */
  readonly headHeight: number;
}

export interface ShownRows {
  readonly viewport: Viewport;
  readonly drawn: RowRange;
  readonly visible: RowRange;
  readonly show: (row: number) => void;
}

/** Which rows of a scrolled element are to be drawn. */
export function useViewport(element: RefObject<HTMLElement | null>, shape: ListShape): ShownRows {
  const { rowCount, rowHeight, headHeight } = shape;
  const [scrolled, setScrolled] = useState({ scrollTop: 0, height: 0 });
  useLayoutEffect(() => {
    const list = element.current;
    if (list === null) return;
    const read = () =>
      setScrolled((before) => {
        const { scrollTop, clientHeight } = list;
        const height = Math.max(0, clientHeight - headHeight);
        // Less than a row makes no difference that anybody sees.
        const isSame =
          Math.floor(before.scrollTop / rowHeight) === Math.floor(scrollTop / rowHeight) &&
          before.height === height;
        return isSame ? before : { scrollTop, height };
      });
    read();
    const resized = new ResizeObserver(read);
    resized.observe(list);
    list.addEventListener("scroll", read, { passive: true });
    return () => {
      resized.disconnect();
      list.removeEventListener("scroll", read);
    };
  }, [element, rowHeight, headHeight]);
  const viewport = { ...scrolled, rowHeight, rowCount };
  const show = useCallback(
    (row: number) => {
      const list = element.current;
      if (list === null) return;
      const { scrollTop, clientHeight } = list;
      const height = clientHeight - headHeight;
      list.scrollTop = scrollToShow({ scrollTop, height, rowHeight, rowCount }, row);
    },
    [element, rowHeight, rowCount, headHeight],
  );
  return { viewport, drawn: findDrawn(viewport), visible: findVisible(viewport), show };
}

/** Whether the page is as narrow as a phone: rows are higher there. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => narrow().matches);
  useEffect(() => {
    const query = narrow();
    const read = () => setNarrow(query.matches);
    query.addEventListener("change", read);
    return () => query.removeEventListener("change", read);
  }, []);
  return isNarrow;
}

function narrow(): MediaQueryList {
  return window.matchMedia("(max-width: 899px)");
}
