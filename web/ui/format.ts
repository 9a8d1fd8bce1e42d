const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** The largest unit is enough for people: `3 h`, `12 s`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** How long something takes: `2:13`, `1:02:13`, and from a day on `3 d 4 h`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return `${days} d ${Math.floor(seconds / 3600) % 24} h`;
  return formatClock(seconds).replace(/^0(?=\d:\d\d$)/, "");
}

/** The time of day, with the date when `now` is another day. */
export function formatTimeOfDay(iso: string, now: number): string {
  const at = new Date(iso);
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  if (at.toDateString() === new Date(now).toDateString())
    return at.toLocaleTimeString(undefined, time);
  return at.toLocaleString(undefined, { month: "short", day: "numeric", ...time });
}

/** `mm:ss`, or `h:mm:ss` from an hour on. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = `${two(minutes)}:${two(whole % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[power - 1] ?? "KiB"}`;
}

export function formatCost(dollars: number | null): string {
  if (dollars === null) return "price unknown";
  return dollars < 0.01 && dollars > 0 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

export function formatMoment(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
