import type { ButtonHTMLAttributes } from "react";
import css from "./button.module.css";
import { Icon, type IconName } from "./icons.tsx";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: "plain" | "primary" | "danger" | "quiet";
  readonly size?: "normal" | "small";
  readonly icon?: IconName | undefined;
}

export function Button(props: ButtonProps) {
  const { tone = "plain", size = "normal", icon, className = "", children, ...rest } = props;
  return (
    <button
      type="button"
      data-tone={tone}
      className={`${css.button} ${css[tone]} ${css[size]} ${className}`}
      {...rest}
    >
      {icon === undefined ? null : <Icon name={icon} size={size === "small" ? 15 : 18} />}
      {children}
    </button>
  );
}

interface OutsideLinkProps {
  readonly href: string;
  readonly onClick: () => void;
  readonly children: string;
}

/** Leads out of the page, into a tab of its own that knows nothing of this one. */
export function OutsideLink({ href, onClick, children }: OutsideLinkProps) {
  return (
    <a
      className={`${css.button} ${css.primary} ${css.normal}`}
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      onClick={onClick}
    >
      {children}
    </a>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: IconName;
  /** What it does: the only words that it has. */
  readonly label: string;
}

export function IconButton({ icon, label, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`${css.button} ${css.quiet} ${css.square} ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
