import { settings } from "#web/live/settings.ts";
import { drawRemark } from "#web/terminal/emulator/printed.ts";
import { TerminalScreen } from "#web/terminal/emulator/terminal-screen.ts";
import type { Recording } from "./load-recording.ts";
import { type PlayedScreen, Player } from "./player.ts";

const OLD = { isLive: false };

interface RecordingRoomOptions {
  readonly stage: HTMLElement;
  readonly recording: Recording;
  /** Recorded seconds. */
  readonly at: number;
}

/** A recording on a screen that nobody types into. */
export class RecordingRoom implements Disposable {
  readonly player: Player;
  readonly #owned = new DisposableStack();

  constructor({ stage, recording, at }: RecordingRoomOptions) {
    const { cols, rows } = recording.header;
    const screen = this.#owned.use(
      new TerminalScreen({
        element: stage,
        size: { cols, rows },
        fontSize: settings.get().fontSize,
        convertEol: false,
        isReadOnly: true,
        mayAnswer: () => false,
        // What a link leads to is looked at in the live terminal.
        onLink: () => undefined,
      }),
    );
    const refit = () => screen.fitLetters(settings.get().fontSize);
    this.player = this.#owned.use(new Player(recording, playedOn(screen, refit), pageClock));
    const sizes = new ResizeObserver(refit);
    sizes.observe(stage);
    this.#owned.defer(() => sizes.disconnect());
    this.#owned.defer(settings.subscribe(refit));
    void this.player.start(at);
  }

  [Symbol.dispose](): void {
    this.#owned.dispose();
  }
}

function playedOn(screen: TerminalScreen, refit: () => void): PlayedScreen {
  const { terminal, writer } = screen;
  return {
    reset: () => screen.reset(),
    write: (text) => writer.write(text, OLD),
    resize: async (size) => {
      await screen.resize(size);
      refit();
    },
    remark: async (text) => {
      await writer.settled();
      const isAlternate = terminal.buffer.active.type === "alternate";
      await writer.write(drawRemark(text, { isAlternate }), OLD);
    },
    settled: () => writer.settled(),
  };
}

const pageClock = {
  now: () => performance.now(),
  onFrame: (run: () => void) => {
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  },
};
