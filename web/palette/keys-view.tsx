import { formatKeys } from "./keys.ts";
import css from "./palette.module.css";
import { isMac } from "./platform.ts";

/** The keys of a command as caps. */
export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span className={css.keys}>
      {formatKeys(keys, isMac).map((caps, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same press may come twice, and none ever moves.
        <span key={index} className={css.chord}>
          {index === 0 ? null : <span className={css.then}>then</span>}
          {caps.map((cap) => (
            <kbd key={cap}>{cap}</kbd>
          ))}
        </span>
      ))}
    </span>
  );
}
