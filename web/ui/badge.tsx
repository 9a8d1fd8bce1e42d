import type { ReactNode } from "react";
import css from "./badge.module.css";

export type Tone = "neutral" | "good" | "bad" | "warn" | "info" | "accent";

export function Badge({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={`${css.badge} ${css[tone]}`}>{children}</span>;
}
