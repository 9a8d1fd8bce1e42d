import type headless from "@xterm/headless";

/** The package's own types bring those of a browser, which nothing on the server may have. */
declare class UnicodeGraphemesAddon implements headless.ITerminalAddon {
  activate(terminal: headless.Terminal): void;
  dispose(): void;
}

declare const graphemes: { readonly UnicodeGraphemesAddon: typeof UnicodeGraphemesAddon };
// biome-ignore lint/style/noDefaultExport: as Node sees a package of this kind.
export default graphemes;
