import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useStore } from "#web/live/store.ts";
import { Button, IconButton } from "#web/ui/button.tsx";
import { formatClock } from "#web/ui/format.ts";
import { type Player, type PlayerState, SPEEDS } from "./player.ts";
import css from "./recording-controls.module.css";
import { parseClock } from "./timeline.ts";

const STEP_SECONDS = 5;
const SLIDER_STEP = 0.1;
/** Marks of a window that was dragged would be one bar. */
const MARKS_MOST = 200;

interface ControlsProps {
  readonly player: Player;
  /** Wall time of the beginning in seconds since 1970. */
  readonly beginsAt: number | undefined;
  readonly onCopyLink: () => void;
}

/** Everything that moves a recording. */
export function RecordingControls({ player, beginsAt, onCopyLink }: ControlsProps) {
  const state = useStore(player.state);
  const { position, duration, isPlaying, speed, isDense } = state;
  return (
    <div className={css.controls}>
      <div className={css.row}>
        <IconButton
          icon={isPlaying ? "pause" : "play"}
          label={isPlaying ? "Pause" : "Play"}
          onClick={() => player.toggle()}
        />
        <MomentSlider player={player} state={state} />
        <output className={css.time} aria-label="Time">
          {formatClock(position)} / {formatClock(duration)}
        </output>
      </div>
      <div className={css.row}>
        <label className={css.choice}>
          Speed{" "}
          <select value={speed} onChange={(event) => player.setSpeed(Number(event.target.value))}>
            {SPEEDS.map((one) => (
              <option key={one} value={one}>
                {one}×
              </option>
            ))}
          </select>
        </label>
        <label className={css.choice}>
          <input
            type="checkbox"
            checked={isDense}
            onChange={(event) => player.setDense(event.target.checked)}
          />{" "}
          Leave out pauses
        </label>
        <Jump onJump={(to) => void player.seek(to)} />
        <span className={css.moment}>{sayMoment(beginsAt, player.recordedAt)}</span>
        <Button size="small" icon="link" onClick={onCopyLink}>
          Copy link to this moment
        </Button>
      </div>
    </div>
  );
}

function MomentSlider({ player, state }: { readonly player: Player; readonly state: PlayerState }) {
  const { position, duration } = state;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = stepOf(event.key);
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    void player.seek(position + step);
  };
  return (
    <div className={css.slider}>
      <div className={css.marks} aria-hidden="true">
        {player.marks.slice(0, MARKS_MOST).map((at, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several may stand at one moment.
          <i key={index} style={{ left: `${(at / Math.max(duration, SLIDER_STEP)) * 100}%` }} />
        ))}
      </div>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${formatClock(position)} of ${formatClock(duration)}`}
        min={0}
        // On a step, or the last moment could not be reached.
        max={Math.ceil(duration / SLIDER_STEP) * SLIDER_STEP}
        step={SLIDER_STEP}
        value={position}
        onChange={(event) => void player.seek(Number(event.target.value))}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

/** Seconds that an arrow key moves. */
export function stepOf(key: string): number | undefined {
  if (key === "ArrowRight" || key === "ArrowUp") return STEP_SECONDS;
  return key === "ArrowLeft" || key === "ArrowDown" ? -STEP_SECONDS : undefined;
}

const CLOCK_CHARS = 12;

function Jump({ onJump }: { readonly onJump: (seconds: number) => void }) {
  const [text, setText] = useState("");
  const seconds = parseClock(text);
  const isWrong = text !== "" && seconds === undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (seconds === undefined) return;
    onJump(seconds);
    setText("");
  };
  return (
    <form className={css.choice} onSubmit={submit}>
      <label>
        Jump to{" "}
        <input
          className={css.jump}
          inputMode="decimal"
          placeholder="1:30"
          maxLength={CLOCK_CHARS}
          value={text}
          aria-invalid={isWrong}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Button size="small" type="submit" disabled={seconds === undefined}>
        Jump
      </Button>
    </form>
  );
}

function sayMoment(beginsAt: number | undefined, recordedAt: number): string {
  if (beginsAt === undefined) return "";
  const moment = new Date((beginsAt + recordedAt) * 1000);
  return moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
