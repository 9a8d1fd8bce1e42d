import { useMemo } from "react";
import { type Command, useCommands } from "#web/app/commands.ts";
import { Store, useStore } from "#web/live/store.ts";
import { PaletteDialog } from "./palette-dialog.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { useShortcuts } from "./use-shortcuts.ts";

/** At most one of them is in front. */
const shown = new Store<"nothing" | "palette" | "help">("nothing");

export function openPalette(): void {
  shown.set("palette");
}

export function openShortcutHelp(): void {
  shown.set("help");
}

const close = () => shown.set("nothing");

/** What opens the palette is not in it. */
const openers: readonly Command[] = [
  {
    id: "palette.open",
    group: "Everywhere",
    title: "Open the palette",
    keys: "Mod+K",
    run: openPalette,
  },
  {
    id: "palette.open-anywhere",
    group: "Everywhere",
    title: "Open it also out of a terminal",
    keys: "Ctrl+Shift+P",
    run: openPalette,
  },
];
const help: Command = {
  id: "help.shortcuts",
  group: "Everywhere",
  title: "Show keyboard shortcuts",
  keys: "?",
  run: openShortcutHelp,
};

/** Everything that can be done, by its name or by keys. */
export function Palette() {
  useCommands(useMemo(() => [...openers, help], []));
  useShortcuts();
  const now = useStore(shown);
  if (now === "palette") return <PaletteDialog onClose={close} leftOut={openers} />;
  if (now === "help") return <ShortcutHelp onClose={close} />;
  return null;
}
