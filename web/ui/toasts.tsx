import { Store, useStore } from "#web/live/store.ts";
import { IconButton } from "./button.tsx";
import { Revealed } from "./revealed.tsx";
import css from "./toasts.module.css";

interface Toast {
  readonly id: number;
  readonly tone: "info" | "bad" | "good";
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | undefined;
}

const SHOWN_MS = 6000;
const SHOWN_MOST = 4;

/** Small words at the edge, for what has happened just now. */
export class Toasts {
  readonly list = new Store<readonly Toast[]>([]);
  #next = 1;

  add(tone: Toast["tone"], text: string, action?: Toast["action"]): void {
    const id = this.#next;
    this.#next += 1;
    this.list.change((list) => [...list, { id, tone, text, action }].slice(-SHOWN_MOST));
    setTimeout(() => this.remove(id), SHOWN_MS);
  }

  remove(id: number): void {
    this.list.change((list) => list.filter((toast) => toast.id !== id));
  }
}

export function ToastList({ toasts }: { readonly toasts: Toasts }) {
  const list = useStore(toasts.list);
  return (
    <div className={css.list} role="status" aria-live="polite">
      {list.map(({ id, tone, text, action }) => (
        <div key={id} className={`${css.toast} ${css[tone]}`}>
          <span dir="auto">
            <Revealed text={text} reading="prose" />
          </span>
          {action === undefined ? null : (
            <button
              type="button"
              className={css.action}
              onClick={() => {
                action.run();
                toasts.remove(id);
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => toasts.remove(id)} />
        </div>
      ))}
    </div>
  );
}
