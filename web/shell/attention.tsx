import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { revealHidden } from "#contract/text/hidden-characters.ts";
import { type App, useApp } from "#web/app/context.ts";
import { navigate, parseRoute, useRoute } from "#web/app/router.ts";
import { settings } from "#web/live/settings.ts";
import { useStore } from "#web/live/store.ts";
import { nameOf } from "#web/sessions/session-name.ts";
import { hear, hearList, type News, NOTHING_HEARD } from "./attention-news.ts";
import {
  chooseWay,
  countNotice,
  formatTitle,
  type Looking,
  namePlace,
  sayNews,
  stillUnseen,
} from "./attention-words.ts";

/** Calls for somebody who looks elsewhere: by the title, by a toast, by the desktop. */
export function Attention() {
  const app = useApp();
  const [unseen, setUnseen] = useState<ReadonlySet<string>>(new Set());
  const shown = useRef<readonly number[]>([]);
  useEffect(() => {
    const report = (news: News) => {
      const way = chooseWay(news, lookNow());
      if (way === "none") return;
      if (news.kind === "ended") setUnseen((before) => addUnseen(before, news));
      // It stays until the user comes back.
      if (way === "toast") addToast(app, news);
      else shown.current = showNotice(news, shown.current);
    };
    // The list may have been read before this view was drawn.
    const listed = app.sessions.listed();
    let { attending } = listed ? hearList(NOTHING_HEARD, listed) : { attending: NOTHING_HEARD };
    return app.sessions.onEvent((event) => {
      const list = event.type === "ready" ? app.sessions.listed() : undefined;
      const heard = list ? hearList(attending, list) : hear(attending, event);
      attending = heard.attending;
      for (const news of heard.news) report(news);
    });
  }, [app]);
  const looking = useLooking();
  useEffect(() => setUnseen((before) => stillUnseen(before, looking)), [looking]);
  useBadge(app, unseen, looking);
  return null;
}

const UNSEEN_MOST = 999;

function addUnseen(before: ReadonlySet<string>, { session }: News): ReadonlySet<string> {
  return before.size >= UNSEEN_MOST ? before : new Set([...before, session.session_id]);
}

function useLooking(): Looking {
  const route = useRoute();
  const isHidden = useSyncExternalStore(onVisibility, () => document.hidden);
  const [looking, setLooking] = useState<Looking>({ route, isHidden });
  useEffect(() => setLooking({ route, isHidden }), [route, isHidden]);
  return looking;
}

function lookNow(): Looking {
  return { isHidden: document.hidden, route: parseRoute(window.location.hash) };
}

function onVisibility(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}

function useBadge({ sessions }: App, unseen: ReadonlySet<string>, { route }: Looking): void {
  const view = useStore(sessions.view);
  const open = "sessionId" in route ? view.sessions.get(route.sessionId) : undefined;
  const count = view.asking.size + unseen.size;
  const title = formatTitle(count, open === undefined ? namePlace(route) : nameOf(open));
  useEffect(() => {
    document.title = title;
  }, [title]);
  const isCalling = count > 0;
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link !== null) link.href = isCalling ? "./icon-alert.svg" : "./icon.svg";
  }, [isCalling]);
}

function addToast({ toasts }: App, news: News): void {
  const { session_id, state } = news.session;
  const isBad = news.kind === "ended" && (state.kind === "lost" || hasFailed(state));
  toasts.add(isBad ? "bad" : "info", sayNews(news, nameOf(news.session)), {
    label: "Open",
    run: () => navigate({ name: "session", sessionId: session_id }),
  });
}

function hasFailed(state: News["session"]["state"]): boolean {
  return state.kind === "exited" && state.exit_code !== 0 && state.reason === "exited";
}

/** One for a session: a newer one takes its place. */
function showNotice(news: News, shown: readonly number[]): readonly number[] {
  if (!settings.get().notify || !("Notification" in window)) return shown;
  if (Notification.permission !== "granted") return shown;
  const counted = countNotice(shown, performance.now());
  const { session_id, work_dir } = news.session;
  const text = counted.isTooMany ? "More has happened" : sayNews(news, nameOf(news.session));
  const tag = counted.isTooMany ? "reins" : `reins.${session_id}`;
  try {
    const notice = new Notification(text, {
      tag,
      body: revealHidden(work_dir, "decision"),
      icon: "./icon.svg",
    });
    notice.onclick = () => {
      window.focus();
      navigate(
        counted.isTooMany ? { name: "sessions" } : { name: "session", sessionId: session_id },
      );
      notice.close();
    };
  } catch {
    // Phones show none without a worker of the page's own; the title still says it.
  }
  return counted.shown;
}
