import { memo, type ReactNode } from "react";
import type { ChatItem } from "#cli/chat/chat-types.ts";
import type { CallItem } from "#contract/conversation/items.ts";
import { describeCall, describeInput } from "./describe-call.ts";
import { beside, column, h, Rows, Say, type SayProps, toneColours } from "./draw.ts";
import { readMarkdown } from "./markdown.ts";

const INDENT = 2;
/** Of a call that is shown whole. */
const UNFOLDED_LINES = 200;

export interface ItemProps {
  readonly item: ChatItem;
  /** With several agents it is said who speaks. */
  readonly namesAgents: boolean;
}

/** Something that has been said or done. */
export const ItemView = memo(({ item, namesAgents }: ItemProps): ReactNode => {
  const isApart = item.kind !== "note" && item.kind !== "call";
  return column(
    { paddingLeft: item.depth * INDENT, marginTop: isApart ? 1 : 0 },
    drawItem(item, namesAgents),
  );
});

function drawItem(item: ChatItem, namesAgents: boolean): ReactNode {
  switch (item.kind) {
    case "user":
      return beside(
        { text: leadOf(item.origin), bold: true },
        h(Say, { text: item.text, bold: true }),
      );
    case "answer": {
      const isNamed = item.isFirst && (namesAgents || item.depth > 0);
      const rows = h(Rows, { rows: readMarkdown(item.text) });
      return isNamed ? column({}, h(Say, { text: `${item.agent}:`, dim: true }), rows) : rows;
    }
    case "call":
      return item.isUnfolded ? drawUnfolded(item.call) : drawFolded(item.call);
    case "asked": {
      const text = h(Say, { text: item.text, bold: true });
      const detail = item.detail === "" ? [] : [h(Say, { text: item.detail })];
      return beside({ text: "? ", bold: true, colour: "yellow" }, column({}, text, ...detail));
    }
    case "summary":
      return column(
        {},
        h(Say, {
          text: "the history was made shorter; this stands for what came before:",
          dim: true,
        }),
        h(Rows, { rows: readMarkdown(item.text) }),
      );
    case "failure":
      return beside({ text: "✗ ", colour: "red" }, h(Say, { text: item.text, colour: "red" }));
    case "note": {
      const colour = toneColours[item.tone];
      const isDim = colour === undefined;
      return beside({ text: "· ", dim: true }, h(Say, { text: item.text, colour, dim: isDim }));
    }
  }
}

/** A message that was sent into a turn looks like what it is. */
function leadOf(origin: string): string {
  return origin === "steer" ? ">> " : "> ";
}

function drawFolded(call: CallItem): ReactNode {
  const style: Partial<SayProps> = call.status === "done" ? { dim: true } : { colour: "red" };
  // The call has ended, so the time of day does not matter.
  return h(Say, { text: describeCall(call, 0), isLine: true, ...style });
}

function drawUnfolded(call: CallItem): ReactNode {
  const lines = (call.result ?? "").trimEnd().split(/\r\n|[\r\n]/);
  const hidden = lines.length - UNFOLDED_LINES;
  const shown = lines.slice(-UNFOLDED_LINES).join("\n");
  return column(
    {},
    drawFolded(call),
    beside(
      { text: "    " },
      h(Say, { text: describeInput(call.input, "whole"), dim: true }),
      ...(hidden > 0 ? [h(Say, { text: `… ${hidden} lines before`, dim: true })] : []),
      h(Say, { text: shown }),
    ),
  );
}
