import type { ComponentProps } from "react";
import { Icon } from "./icons.tsx";
import css from "./search-box.module.css";

const SEARCH_CHARS = 200;

interface SearchBoxProps extends Omit<ComponentProps<"input">, "type" | "maxLength"> {
  /** What it does: the only words that stay. */
  readonly "aria-label": string;
}

/** `className` places it; what is given as children stands behind what is typed. */
export function SearchBox({ className = "", children, ...input }: SearchBoxProps) {
  return (
    <label className={`${css.box} ${className}`}>
      <Icon name="search" size={16} />
      <input type="search" maxLength={SEARCH_CHARS} {...input} />
      {children}
    </label>
  );
}
