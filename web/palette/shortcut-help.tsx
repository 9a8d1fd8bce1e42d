import { useApp } from "#web/app/context.ts";
import { useStore } from "#web/live/store.ts";
import { Dialog } from "#web/ui/dialog.tsx";
import { Keys } from "./keys-view.tsx";
import css from "./palette.module.css";

/** Those that work right now: what a view brings is in it while the view is shown. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { commands } = useApp();
  const list = useStore(commands.list);
  const groups = Map.groupBy(
    list.flatMap(({ id, group, title, keys }) =>
      keys === undefined ? [] : [{ id, group, title, keys }],
    ),
    ({ group }) => group,
  );
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div className={css.help}>
        {[...groups].map(([group, rows]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {rows.map(({ id, title, keys }) => (
                <div key={id}>
                  <dt>{title}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className={css.small}>
        Single keys rest while you type. In a terminal every key is the child’s, but for those with
        Shift and a modifier, or ⌘.
      </p>
    </Dialog>
  );
}
