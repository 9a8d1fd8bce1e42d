import { Box, render, Static, useInput, usePaste, useWindowSize } from "ink";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import type { ChatStore } from "#cli/chat/chat-store.ts";
import type { ChatItem } from "#cli/chat/chat-types.ts";
import type { Press } from "#cli/chat/keys.ts";
import { Colours, column, h } from "./draw.ts";
import { InputView, StatusView } from "./input-view.ts";
import { ItemView } from "./item-view.ts";
import { LiveView } from "./live-view.ts";
import { readKeys } from "./read-keys.ts";

export interface ChatScreen {
  readonly store: ChatStore;
  readonly hasColours: boolean;
  readonly onPress: (press: Press) => void;
}

export interface ShownChat {
  /** Everything that has ended is above, what was under way is gone, and the terminal is as it was. */
  close(): Promise<void>;
  /** Settles when it cannot go on. */
  readonly failed: Promise<unknown>;
}

export function showChat(screen: ChatScreen): ShownChat {
  // Ink takes raw mode after it has drawn. Until then the terminal turns an Enter into a line feed, which the editor
  // takes for a new line of the message.
  process.stdin.setRawMode(true);
  const app = render(h(App, screen), {
    exitOnCtrlC: false,
    patchConsole: false,
    // Whoever opened it has looked; Ink would not draw where CI is set.
    interactive: true,
  });
  return {
    close: async () => {
      screen.store.draw();
      await app.waitUntilRenderFlush();
      app.clear();
      app.unmount();
      await app.waitUntilExit();
    },
    failed: app.waitUntilExit(),
  };
}

function App({ store, hasColours, onPress }: ChatScreen): ReactNode {
  const view = useSyncExternalStore(store.subscribe, () => store.view);
  const { rows, columns } = useWindowSize();
  useInput((input, key) => {
    for (const press of readKeys(input, key)) onPress(press);
  });
  usePaste((text) => onPress({ kind: "text", text }));
  const { items, written, talk } = view.chat;
  const total = written + items.length;
  useEffect(() => store.markWritten(total), [store, total]);
  const namesAgents = talk.agents.length > 1;
  return h(
    Colours.Provider,
    { value: hasColours },
    h(Static<ChatItem>, {
      // Those that were written are no longer held, but they count.
      items: [...new Array<ChatItem>(written), ...items],
      // It lies outside of the layout, so nothing else tells it where the screen ends.
      style: { width: columns },
      children: (item, index) => h(ItemView, { key: index, item, namesAgents }),
    }),
    h(
      Box,
      // Higher than the screen it could not be taken back: then its top is cut off.
      {
        flexDirection: "column",
        justifyContent: "flex-end",
        overflow: "hidden",
        maxHeight: Math.max(1, rows - 1),
      },
      h(LiveView, { view }),
      column({}, h(InputView, { view }), h(StatusView, { view })),
    ),
  );
}
