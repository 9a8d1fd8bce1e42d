import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { Session } from "#contract/session.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { IconButton } from "#web/ui/button.tsx";
import { Icon } from "#web/ui/icons.tsx";
import css from "./actions-menu.module.css";
import { moveItem, placeMenu } from "./menu-moves.ts";
import { listItems, type SessionDeed, type SessionItem } from "./session-items.ts";

interface ActionsMenuProps {
  readonly session: Session;
  readonly label: string;
  readonly onDeed: (session: Session, deed: SessionDeed) => void;
  /** Inside of a list that is one stop for the Tab key. */
  readonly isInList?: boolean;
}

/** A button with a menu as the ARIA practices describe it. */
export function ActionsMenu({ session, label, onDeed, isInList = false }: ActionsMenuProps) {
  const button = useRef<HTMLSpanElement>(null);
  const menuId = useId();
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    button.current?.querySelector("button")?.focus();
  };
  return (
    <span ref={button} className={css.holder}>
      <IconButton
        icon="more"
        label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? menuId : undefined}
        tabIndex={isInList ? -1 : 0}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || isInList) return;
          event.preventDefault();
          setOpen(true);
        }}
      />
      {isOpen ? (
        <MenuPopup
          id={menuId}
          label={label}
          session={session}
          findAnchor={() => button.current?.getBoundingClientRect()}
          onLeave={() => setOpen(false)}
          onClose={close}
          onDeed={(deed) => {
            close();
            onDeed(session, deed);
          }}
        />
      ) : null}
    </span>
  );
}

interface MenuPopupProps {
  readonly id: string;
  readonly label: string;
  readonly session: Session;
  readonly findAnchor: () => DOMRect | undefined;
  /** The focus has gone elsewhere by itself. */
  readonly onLeave: () => void;
  readonly onClose: () => void;
  readonly onDeed: (deed: SessionDeed) => void;
}

/** A popover, so that no list cuts it off; the browser closes it for a click elsewhere. */
function MenuPopup(props: MenuPopupProps) {
  const { id, label, session, findAnchor, onLeave, onClose, onDeed } = props;
  const { identity } = useApp();
  const items = listItems(session, mayDo(identity, "operator"));
  const popup = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens once, where its button is then.
  useEffect(() => {
    const element = popup.current;
    if (element === null) return;
    element.showPopover();
    const anchor = findAnchor();
    if (anchor !== undefined) {
      const { offsetWidth: width, offsetHeight: height } = element;
      const page = { width: window.innerWidth, height: window.innerHeight };
      const { left, top } = placeMenu(anchor, { width, height }, page);
      element.style.left = `${left}px`;
      element.style.top = `${top}px`;
    }
    itemsIn(element)[0]?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    // A list below has keys of its own.
    event.stopPropagation();
    if (event.key === "Tab") return onLeave();
    if (event.key === "Escape") return onClose();
    const buttons = itemsIn(event.currentTarget);
    const labels = buttons.map(({ textContent }) => textContent ?? "");
    const at = buttons.findIndex((item) => item.matches(":focus"));
    const next = event.ctrlKey || event.metaKey ? undefined : moveItem(event.key, at, labels);
    if (next === undefined) return;
    event.preventDefault();
    buttons[next]?.focus();
  };
  return (
    <div
      ref={popup}
      id={id}
      className={css.menu}
      popover="auto"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      onKeyDown={onKeyDown}
      onToggle={(event) => {
        if (event.newState === "closed") onLeave();
      }}
    >
      {items.map((item, index) => (
        <MenuItem
          key={item.label}
          item={item}
          isApart={index > 0 && items[index - 1]?.section !== item.section}
          onDeed={onDeed}
        />
      ))}
    </div>
  );
}

interface MenuItemProps {
  readonly item: SessionItem;
  readonly isApart: boolean;
  readonly onDeed: (deed: SessionDeed) => void;
}

function MenuItem({ item, isApart, onDeed }: MenuItemProps) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={css.item}
      data-apart={isApart}
      data-grave={item.isGrave === true}
      onClick={(event) => {
        event.stopPropagation();
        onDeed(item.deed);
      }}
    >
      <Icon name={item.icon} size={16} />
      {item.label}
    </button>
  );
}

function itemsIn(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("[role=menuitem]")];
}
