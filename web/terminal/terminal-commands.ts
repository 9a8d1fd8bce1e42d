import { useMemo } from "react";
import { type Command, useCommands } from "#web/app/commands.ts";
import { useApp } from "#web/app/context.ts";
import { changeSettings, settings } from "#web/live/settings.ts";
import { clamp, FONT_MOST } from "#web/terminal/emulator/sizing.ts";
import type { TerminalRoom } from "./terminal-room.ts";

const FONT_SETTING_LEAST = 8;
const FONT_NORMAL = 14;

interface TerminalActions {
  readonly room: TerminalRoom;
  readonly action: "take" | "release" | undefined;
  readonly openSearch: () => void;
  readonly leave: () => void;
}

/** What can be done with the terminal that is shown, for the palette and by keys. */
export function useTerminalCommands(actions: TerminalActions | undefined): void {
  const { toasts } = useApp();
  const { room, action, openSearch, leave } = actions ?? {};
  const commands = useMemo(() => {
    if (room === undefined || openSearch === undefined || leave === undefined) return [];
    const command = (id: string, title: string, how: Pick<Command, "run" | "keys">): Command => ({
      id: `terminal.${id}`,
      group: "Terminal",
      title,
      ...how,
    });
    const toggleReader = () => {
      const isOn = room.toggleScreenReader();
      toasts.add("info", `Reading aloud of the terminal is ${isOn ? "on" : "off"}`);
    };
    const control = {
      take: command("take", "Take control", { run: () => void room.link.take() }),
      release: command("release", "Release control", { run: () => void room.link.release() }),
    };
    return [
      ...(action === undefined ? [] : [control[action]]),
      command("search", "Search in the terminal", { run: openSearch, keys: "Ctrl+Shift+F" }),
      command("copy", "Copy what is selected", {
        run: () => void room.copy(),
        keys: "Ctrl+Shift+C",
      }),
      command("copy-all", "Copy everything in the terminal", { run: () => void room.copyAll() }),
      // Ctrl+Shift+V is the browser's own, which needs no permission.
      command("paste", "Paste into the terminal", { run: () => void room.paste() }),
      command("focus", "Go to the terminal", { run: () => room.focus() }),
      command("leave", "Leave the terminal", { run: leave, keys: "Ctrl+Shift+L" }),
      command("end", "Scroll to the end of the terminal", { run: () => room.scrollToEnd() }),
      command("larger", "Make the letters larger", { run: () => changeFont(1) }),
      command("smaller", "Make the letters smaller", { run: () => changeFont(-1) }),
      command("normal", "Make the letters as large as usual", {
        run: () => changeSettings({ fontSize: FONT_NORMAL }),
      }),
      command("reader", "Read the terminal aloud, or stop it", { run: toggleReader }),
    ];
  }, [room, action, openSearch, leave, toasts]);
  useCommands(commands);
}

function changeFont(step: number): void {
  const { fontSize } = settings.get();
  changeSettings({ fontSize: clamp(fontSize + step, FONT_SETTING_LEAST, FONT_MOST) });
}
