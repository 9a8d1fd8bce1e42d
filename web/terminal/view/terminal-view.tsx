import { useCallback, useRef, useState } from "react";
import type { Session } from "#contract/session.ts";
import { mayDo, useApp } from "#web/app/context.ts";
import { Store, useStore } from "#web/live/store.ts";
import { SessionHeader } from "#web/sessions/header/session-header.tsx";
import { ControlActions, ControlNotices } from "#web/terminal/bars/control-bar.tsx";
import { ExitBar } from "#web/terminal/bars/exit-bar.tsx";
import { LookDialogs } from "#web/terminal/bars/look-dialogs.tsx";
import { PipeBar } from "#web/terminal/bars/pipe-bar.tsx";
import { QuickKeysBar } from "#web/terminal/bars/quick-keys-bar.tsx";
import { SearchBar } from "#web/terminal/bars/search-bar.tsx";
import {
  type ControlShown,
  type ControlState,
  createControlState,
  describeControl,
  type Watcher,
} from "#web/terminal/control-state.ts";
import place from "#web/terminal/emulator/stage.module.css";
import { useTerminalCommands } from "#web/terminal/terminal-commands.ts";
import type { Look, TerminalRoom } from "#web/terminal/terminal-room.ts";
import { useIsNarrow } from "#web/terminal/use-narrow.ts";
import { useRoom } from "#web/terminal/use-room.ts";
import { Button, IconButton } from "#web/ui/button.tsx";
import { Loading, Notice } from "#web/ui/notice.tsx";
import css from "./terminal-view.module.css";

/** A terminal or a command, live, with everything around it. */
export function TerminalView({ session }: { readonly session: Session }) {
  const { identity } = useApp();
  const { room, stageRef, again } = useRoom(session);
  const state = useStore(room?.link.state ?? notYet);
  const [isSearching, setIsSearching] = useState(false);
  const tools = useRef<HTMLSpanElement>(null);
  const watcher = { name: identity.user_id, mayControl: mayDo(identity, "operator") };
  const shown = describeControl(state, watcher);
  const openSearch = useCallback(() => setIsSearching(true), []);
  const leave = useCallback(() => tools.current?.querySelector("button")?.focus(), []);
  const { action } = shown;
  useTerminalCommands(room === undefined ? undefined : { room, action, openSearch, leave });
  const isNarrow = useIsNarrow();
  const control = room === undefined ? null : <ControlActions link={room.link} shown={shown} />;
  const closeSearch = () => {
    setIsSearching(false);
    room?.focus();
  };
  return (
    <section className={css.view} aria-label="Terminal">
      <SessionHeader session={session}>
        {isNarrow ? null : control}
        <span ref={tools} className={css.tools}>
          <IconButton icon="search" label="Search in the terminal" onClick={openSearch} />
        </span>
      </SessionHeader>
      {isNarrow && shown.says !== "" ? <div className={css.strip}>{control}</div> : null}
      {room === undefined ? null : (
        <ControlNotices link={room.link} state={state} shown={shown} watcher={watcher} />
      )}
      {isSearching && room !== undefined ? <SearchBar room={room} onClose={closeSearch} /> : null}
      <div className={place.frame}>
        <div
          ref={stageRef}
          className={`${place.stage} ${css.stage}`}
          data-role={stageRole(session, state)}
        />
        {state.isDrawn || state.connection === "over" ? null : (
          <div className={css.drawing}>
            <Loading what="Drawing the screen" />
          </div>
        )}
      </div>
      {room === undefined ? null : (
        <Below {...{ session, room, state, shown, watcher }} again={again} />
      )}
    </section>
  );
}

interface BelowProps {
  readonly session: Session;
  readonly room: TerminalRoom;
  readonly state: ControlState;
  readonly shown: ControlShown;
  readonly watcher: Watcher;
  readonly again: () => void;
}

/** What stands under the terminal. */
function Below({ session, room, state, shown, again }: BelowProps) {
  const look: Look | undefined = useStore(room.look);
  const { exit, failure } = state;
  return (
    <>
      {failure === undefined ? null : (
        <Notice tone="bad">
          {failure}{" "}
          <Button size="small" onClick={again}>
            Try again
          </Button>
        </Notice>
      )}
      {session.mode === "pipe" ? <PipeBar link={room.link} state={state} shown={shown} /> : null}
      {exit === undefined ? null : <ExitBar session={session} exit={exit} />}
      {session.mode === "pty" && shown.canType ? <QuickKeysBar room={room} /> : null}
      {look === undefined ? null : <LookDialogs room={room} look={look} />}
    </>
  );
}

/** Before there is a room. */
const notYet = new Store<ControlState>(createControlState(null));

/** A child's own size is shown whole; who gives it its size fills the page. */
function stageRole({ mode }: Session, { role }: ControlState): "fills" | "fits" {
  return mode === "pipe" || role === "controller" ? "fills" : "fits";
}
