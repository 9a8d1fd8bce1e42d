/** Where ⌘ does what Ctrl does elsewhere. */
export const isMac = /^(?:Mac|iP)/.test(window.navigator.platform);
