import { memo, useRef } from "react";
import { type Blocks, growBlocks, noBlocks } from "./blocks.ts";
import css from "./markdown.module.css";
import { drawBlock } from "./tokens.tsx";

/** Markdown as elements. While it grows only its last block is read and drawn again. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const blocks = useRef<Blocks>(noBlocks);
  blocks.current = growBlocks(blocks.current, text);
  const { settled, rest } = blocks.current;
  return (
    <div className={css.markdown}>
      {settled.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end.
        <Block key={at} text={block} />
      ))}
      {rest.trim() === "" ? null : <Block key={settled.length} text={rest} />}
    </div>
  );
});

const Block = memo(function Block({ text }: { readonly text: string }) {
  return drawBlock(text);
});
