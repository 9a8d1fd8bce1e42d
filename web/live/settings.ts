import { Store } from "./store.ts";

/** What this browser remembers for its user; nothing that a server would need. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly notify: boolean;
  readonly fontSize: number;
}

const KEY = "reins.settings";
const defaults: Settings = { theme: "system", notify: false, fontSize: 14 };

export const settings = new Store<Settings>(load());

export function changeSettings(change: Partial<Settings>): void {
  settings.change((before) => ({ ...before, ...change }));
  try {
    window.localStorage.setItem(KEY, JSON.stringify(settings.get()));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

/** Follows the setting, and the system where the setting says so. */
export function applyTheme(): void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const { theme } = settings.get();
    const isDark = theme === "dark" || (theme === "system" && dark.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  };
  settings.subscribe(apply);
  dark.addEventListener("change", apply);
  apply();
}

function load(): Settings {
  try {
    const found: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? "{}");
    return parseSettings(found);
  } catch {
    return defaults;
  }
}

function parseSettings(found: unknown): Settings {
  if (typeof found !== "object" || found === null) return defaults;
  const { theme, notify, fontSize } = found as Partial<Record<keyof Settings, unknown>>;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    notify: notify === true,
    fontSize:
      typeof fontSize === "number" && fontSize >= 8 && fontSize <= 32
        ? fontSize
        : defaults.fontSize,
  };
}
