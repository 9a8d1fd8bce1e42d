import { Component, type ReactNode } from "react";
import { useStore } from "#web/live/store.ts";
import { Button } from "#web/ui/button.tsx";
import { Empty } from "#web/ui/notice.tsx";
import { useApp } from "./context.ts";
import { describeCrash } from "./crash-words.ts";

interface CrashProps {
  /** Another place is another try. */
  readonly place: string;
  readonly children: ReactNode;
}

interface CrashState {
  readonly crashed: { readonly error: unknown; readonly place: string } | undefined;
}

/** Keeps the failure of one view from taking the page along. React offers this to classes alone. */
export class Crash extends Component<CrashProps, CrashState> {
  override state: CrashState = { crashed: undefined };

  static getDerivedStateFromError(error: unknown): CrashState {
    return { crashed: { error, place: "" } };
  }

  static getDerivedStateFromProps({ place }: CrashProps, { crashed }: CrashState): CrashState {
    if (crashed === undefined) return { crashed };
    if (crashed.place === "") return { crashed: { ...crashed, place } };
    return { crashed: crashed.place === place ? crashed : undefined };
  }

  override render(): ReactNode {
    const { crashed } = this.state;
    return crashed === undefined ? this.props.children : <CrashNotice error={crashed.error} />;
  }
}

function CrashNotice({ error }: { readonly error: unknown }) {
  const { sessions } = useApp();
  const { status } = useStore(sessions.view);
  const { title, text } = describeCrash(error, status === "away");
  return (
    <div role="alert">
      <Empty icon="pulse" title={title}>
        <p>{text}</p>
        <Button tone="primary" onClick={() => window.location.reload()}>
          Reload
        </Button>
        <a href="#/">See all sessions</a>
      </Empty>
    </div>
  );
}
