import { useCallback, useEffect, useReducer, useRef } from "react";
import type { CallOptions } from "#client/client.ts";
import { addPage, fail, NO_PAGES, type Page, type Pages } from "./pages.ts";

export interface Paged<T> extends Pages<T> {
  readonly more: () => void;
  readonly again: () => void;
}

type Ask<T> = (cursor: string | undefined, options: CallOptions) => Promise<Page<T>>;

/** A long list page by page; begins anew whenever `ask` changes (make it by useCallback). */
export function usePages<T>(ask: Ask<T>): Paged<T> {
  const [pages, change] = useReducer(
    (before: Pages<T>, make: (before: Pages<T>) => Pages<T>) => make(before),
    NO_PAGES,
  );
  const asking = useRef<AbortController>(undefined);
  const get = useCallback(
    (cursor: string | undefined) => {
      asking.current?.abort();
      const ending = new AbortController();
      asking.current = ending;
      change((before) => ({ ...before, isBusy: true }));
      ask(cursor, { signal: ending.signal }).then(
        (page) => {
          if (!ending.signal.aborted) change((before) => addPage(before, page, cursor));
        },
        (error: unknown) => {
          if (!ending.signal.aborted) change((before) => fail(before, error, cursor));
        },
      );
    },
    [ask],
  );
  const again = useCallback(() => get(undefined), [get]);
  useEffect(() => {
    again();
    return () => asking.current?.abort();
  }, [again]);
  const { cursor } = pages;
  const more = useCallback(() => {
    if (cursor !== undefined) get(cursor);
  }, [get, cursor]);
  return { ...pages, more, again };
}
