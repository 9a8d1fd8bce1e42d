import { useState } from "react";
import { Button, IconButton } from "#web/ui/button.tsx";

type Outcome = "copied" | "refused" | undefined;

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly isSmall?: boolean;
}

/** Says on itself how it went. */
export function CopyButton({ text, label, isSmall = false }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("copied");
    } catch {
      setOutcome("refused");
    }
  };
  const words = { copied: "Copied", refused: "The browser does not allow it" };
  const shown = outcome === undefined ? label : words[outcome];
  if (isSmall)
    return (
      <IconButton
        icon={outcome === "copied" ? "check" : "copy"}
        label={shown}
        onClick={() => void copy()}
      />
    );
  return (
    <Button size="small" tone="quiet" icon="copy" aria-live="polite" onClick={() => void copy()}>
      {shown}
    </Button>
  );
}
