/**
 * xterm.js writes style elements and style attributes, which the page's policy refuses, as it should. Both are made to
 * say the same by way of the object model, which a policy leaves to scripts: a sheet of its own for each element.
 */
export function createTerminalDocument(): Document {
  return new Proxy(document, {
    get: (target, name) => {
      if (name === "createElement") return createStyled;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A part of it asks the page's own document, while it is opened only. */
export function openStyled(open: () => void): void {
  Object.defineProperty(document, "createElement", { value: createStyled, configurable: true });
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/** Inside of xterm.js 6.0.0: what makes the cells of a row asks the page's document as well. */
interface Drawing {
  readonly _core: {
    readonly _renderService?: {
      readonly _renderer: { readonly value?: { readonly _rowFactory?: { _document: Document } } };
    };
  };
}

/** Whenever the terminal has begun to draw by the document. */
export function styleRows(terminal: object, styled: Document): void {
  // Its own interface does not show how it draws; the version is pinned.
  const { _core } = terminal as Drawing;
  const rows = _core._renderService?._renderer.value?._rowFactory;
  if (rows !== undefined) rows._document = styled;
}

function createStyled(name: string): HTMLElement {
  const element = Document.prototype.createElement.call(document, name);
  if (name === "style") adoptSheet(element);
  if (name === "span") adoptStyle(element);
  return element;
}

function adoptSheet(element: HTMLElement): void {
  const sheet = new CSSStyleSheet();
  let rules = "";
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    get: () => rules,
    set: (text: string) => {
      rules = text;
      sheet.replaceSync(text);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
}

function adoptStyle(element: HTMLElement): void {
  element.setAttribute = (name, value) => {
    if (name === "style") element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
}
