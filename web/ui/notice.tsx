import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";
import css from "./notice.module.css";

/** A sentence that stands where it belongs. */
export function Notice({
  tone,
  children,
}: {
  readonly tone: "info" | "warn" | "bad" | "good";
  readonly children: ReactNode;
}) {
  return (
    <div className={`${css.notice} ${css[tone]}`} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** Nothing is here, and this is what to do about it. */
export function Empty({
  icon,
  title,
  level = 2,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  /** 1 where it is all that the page shows. */
  readonly level?: 1 | 2;
  readonly children?: ReactNode;
}) {
  const Heading = level === 1 ? "h1" : "h2";
  return (
    <div className={css.empty}>
      <span className={css.emblem}>
        <Icon name={icon} size={30} />
      </span>
      <Heading>{title}</Heading>
      <div className={css.words}>{children}</div>
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className={css.loading} role="status">
      <span className={css.bar} aria-hidden="true" />
      {what}…
    </div>
  );
}
