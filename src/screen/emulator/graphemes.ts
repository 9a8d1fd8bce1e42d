import "./unpooled-buffers.ts";
import graphemes from "@xterm/addon-unicode-graphemes";
import { restorePool } from "./unpooled-buffers.ts";

restorePool();

export const { UnicodeGraphemesAddon } = graphemes;
