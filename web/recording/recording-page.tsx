import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { isLive } from "#contract/ended.ts";
import type { Session } from "#contract/session.ts";
import { useCommands } from "#web/app/commands.ts";
import { useApp } from "#web/app/context.ts";
import { formatRoute } from "#web/app/router.ts";
import { WithSession } from "#web/app/with-session.tsx";
import { useStore } from "#web/live/store.ts";
import { SessionHeader } from "#web/sessions/header/session-header.tsx";
import place from "#web/terminal/emulator/stage.module.css";
import { Button } from "#web/ui/button.tsx";
import { formatBytes } from "#web/ui/format.ts";
import { Empty, Loading, Notice } from "#web/ui/notice.tsx";
import { RECORDING_BYTES_MOST, type Recording } from "./load-recording.ts";
import type { Player } from "./player.ts";
import { RecordingControls, stepOf } from "./recording-controls.tsx";
import css from "./recording-page.module.css";
import { RecordingRoom } from "./recording-room.ts";
import { useRecording } from "./use-recording.ts";

interface RecordingPageProps {
  readonly sessionId: string;
  /** Recorded seconds to open at. */
  readonly at: number | undefined;
}

/** What a terminal showed, at any moment. */
export function RecordingPage({ sessionId, at }: RecordingPageProps) {
  return (
    <WithSession sessionId={sessionId}>
      {(session) => (
        <section className={css.page} aria-label="Recording">
          <SessionHeader session={session}>
            <a className={css.live} href={formatRoute({ name: "session", sessionId })}>
              {isLive(session) ? "Live" : "Back to the session"}
            </a>
          </SessionHeader>
          {session.kind === "agent" || session.mode === "pipe" ? (
            <Instead session={session} />
          ) : (
            <Loaded session={session} at={at} />
          )}
        </section>
      )}
    </WithSession>
  );
}

/** What there is where there is no recording of a screen. */
function Instead({ session }: { readonly session: Session }) {
  const { session_id: sessionId, kind } = session;
  const toSession = formatRoute({ name: "session", sessionId });
  return kind === "agent" ? (
    <Empty icon="agent" title="An agent has no screen to record">
      <p>Everything that it said and did is in its conversation, from the first message on.</p>
      <a href={toSession}>Read the conversation</a>
    </Empty>
  ) : (
    <Empty icon="command" title="This command ran without a terminal">
      <p>What it printed is text from the first line to the last, and can be read as such.</p>
      <a href={toSession}>Read what it printed</a>
    </Empty>
  );
}

interface LoadedProps {
  readonly session: Session;
  readonly at: number | undefined;
}

function Loaded({ session, at }: LoadedProps) {
  const { loading, again } = useRecording(session.session_id);
  if (loading.kind === "loading")
    return (
      <Loading
        what={`Fetching the recording${loading.bytes === 0 ? "" : `, ${formatBytes(loading.bytes)}`}`}
      />
    );
  if (loading.kind === "failed")
    return (
      <Empty icon="pulse" title="The recording could not be read">
        <p>{loading.sentence}</p>
        <Button onClick={again}>Try again</Button>
      </Empty>
    );
  const { recording } = loading;
  if (recording.events.length === 0)
    return (
      <Empty icon="clock" title="Nothing was printed yet">
        <p>A recording begins with the first character.</p>
        <Button onClick={again}>Look again</Button>
      </Empty>
    );
  return <Played {...{ session, recording, at, again }} />;
}

interface PlayedProps extends LoadedProps {
  readonly recording: Recording;
  readonly again: () => void;
}

function Played({ session, recording, at, again }: PlayedProps) {
  const { player, stageRef } = usePlayer(recording, at);
  const copyLink = useCopyLink(session.session_id, player);
  usePlayerKeys(player);
  return (
    <>
      {recording.isCut ? (
        <Notice tone="warn">
          This recording is longer than {formatBytes(RECORDING_BYTES_MOST)}; its beginning is shown.
          The export in the menu has all of it.
        </Notice>
      ) : null}
      {isLive(session) ? (
        <p className={css.running}>
          The session still runs; this is what it had printed when the page asked.{" "}
          <Button size="small" onClick={again}>
            Reload for newer
          </Button>
        </p>
      ) : null}
      <div className={place.frame}>
        <div ref={stageRef} className={place.stage} data-role="fits" />
        {player === undefined ? null : <Progress player={player} />}
      </div>
      {player === undefined ? null : (
        <RecordingControls
          player={player}
          beginsAt={recording.header.timestamp}
          onCopyLink={copyLink}
        />
      )}
    </>
  );
}

function Progress({ player }: { readonly player: Player }): ReactNode {
  const { progress } = useStore(player.state);
  return progress === undefined ? null : (
    <progress className={css.progress} aria-label="Drawing this moment" value={progress} max={1} />
  );
}

function usePlayer(recording: Recording, at: number | undefined) {
  const [stage, stageRef] = useState<HTMLElement | null>(null);
  const [player, setPlayer] = useState<Player | undefined>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another moment moves the player that there is.
  useEffect(() => {
    if (stage === null) return undefined;
    const room = new RecordingRoom({ stage, recording, at: at ?? 0 });
    setPlayer(room.player);
    return () => {
      setPlayer(undefined);
      room[Symbol.dispose]();
    };
  }, [stage, recording]);
  useEffect(() => {
    if (player !== undefined && at !== undefined) void player.start(at);
  }, [player, at]);
  return { player, stageRef };
}

/** To a tenth of a second, which is what an eye sees. */
const TENTHS = 10;

function useCopyLink(sessionId: string, player: Player | undefined): () => void {
  const { toasts } = useApp();
  return useCallback(() => {
    if (player === undefined) return;
    const at = Math.floor(player.recordedAt * TENTHS) / TENTHS;
    const hash = formatRoute({ name: "recording", sessionId, at });
    const { href } = new URL(hash, window.location.href);
    navigator.clipboard.writeText(href).then(
      () => toasts.add("good", "The link to this moment is copied"),
      () => toasts.add("info", `The browser keeps the clipboard to itself. The link is ${href}`),
    );
  }, [sessionId, player, toasts]);
}

/** Space plays and pauses, arrows move, wherever nobody types or presses something. */
function usePlayerKeys(player: Player | undefined): void {
  useEffect(() => {
    if (player === undefined) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isControl(event)) return;
      const step = stepOf(event.key);
      if (event.key !== " " && step === undefined) return;
      event.preventDefault();
      if (step === undefined) player.toggle();
      else void player.seek(player.state.get().position + step);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [player]);
  const commands = useMemo(
    () =>
      player === undefined
        ? []
        : [
            {
              id: "recording.toggle",
              group: "Recording",
              title: "Play or pause the recording",
              run: () => player.toggle(),
            },
            {
              id: "recording.beginning",
              group: "Recording",
              title: "Go to the beginning of the recording",
              run: () => void player.seek(0),
            },
          ],
    [player],
  );
  useCommands(commands);
}

/** What has a use of its own for these keys. */
const CONTROLS =
  "button, a, select, dialog, [role=dialog], input:not([type=range]), textarea:not([readonly])";

function isControl({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest(CONTROLS) !== null;
}
