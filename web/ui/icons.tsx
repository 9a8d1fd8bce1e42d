/** Drawn on a grid of 20; they take the colour of the text around them and say nothing to a screen reader. */
const paths = {
  agent:
    "M10 3v2M6 8h8a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2ZM8 12v.5M12 12v.5M2 11v2M18 11v2",
  terminal: "M3 4h14v12H3zM6 8l2.5 2L6 12M10 13h4",
  command: "M4 5h12M4 10h8M4 15h5M14 12l3 3-3 3",
  list: "M7 5h10M7 10h10M7 15h10M3.5 5h.01M3.5 10h.01M3.5 15h.01",
  plus: "M10 4v12M4 10h12",
  close: "M5 5l10 10M15 5L5 15",
  back: "M12 4l-6 6 6 6",
  search: "M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM13 13l4 4",
  edit: "M4 16l1-4 8-8 3 3-8 8zM11 6l3 3",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  play: "M6 4l10 6-10 6z",
  pause: "M7 4v12M13 4v12",
  stop: "M5 5h10v10H5z",
  link: "M8 12l4-4M9 6l2-2a3.5 3.5 0 0 1 5 5l-2 2M11 14l-2 2a3.5 3.5 0 0 1-5-5l2-2",
  copy: "M7 7h9v9H7zM13 7V4H4v9h3",
  up: "M4 13l6-6 6 6",
  down: "M4 7l6 6 6-6",
  right: "M7 4l6 6-6 6",
  check: "M4 10.5l4 4 8-9",
  question:
    "M7.5 7.5a2.5 2.5 0 1 1 3.5 2.3c-.8.4-1 .9-1 1.7M10 14.5v.01M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15Z",
  fork: "M6 4v12M6 10c0-3 8-1 8-6M14 4l-2 2M14 4l2 2",
  download: "M10 3v9M6 9l4 4 4-4M4 16h12",
  reins: "M4 16V6c0-2 1-3 3-3h3a4 4 0 0 1 0 8H7M8 11c4 0 4 5 8 5",
  clock: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14ZM10 6v4l3 2",
  shield: "M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5z",
  key: "M12.5 4a3.5 3.5 0 1 1-3.2 5L3 15.5V17h3v-2h2v-2l1.6-1.6",
  pulse: "M2 10h4l2-5 4 10 2-5h4",
  folder: "M3 5h5l2 2h7v9H3z",
  send: "M3 10l14-6-5 13-3-5z",
  sun: "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7ZM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.5 4.5l1 1M14.5 14.5l1 1M4.5 15.5l1-1M14.5 5.5l1-1",
  trash: "M4 6h12M8 6V4h4v2M6 6l1 11h6l1-11M9 9v5M11 9v5",
  keyboard: "M2.5 6h15v9h-15zM5.5 9h.01M8.5 9h.01M11.5 9h.01M14.5 9h.01M6.5 12h7",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
