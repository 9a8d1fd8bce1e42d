import { type KeyboardEvent, useEffect, useId, useState } from "react";
import type { Client } from "#client/client.ts";
import { limits } from "#contract/limits.ts";
import { useApp } from "#web/app/context.ts";
import { sayFault } from "#web/live/page-client.ts";
import { Field } from "#web/ui/field.tsx";
import { Isolated } from "#web/ui/revealed.tsx";
import { completeDirectory, moveOption } from "./completions.ts";
import css from "./directory-field.module.css";

/** Who types on is not asked about each letter. */
const TYPED_MS = 150;

interface DirectoryFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly workDir: string;
  readonly error: string | undefined;
}

/** A path on the server, with the directories that it may go on with. */
export function DirectoryField({ value, onChange, workDir, error }: DirectoryFieldProps) {
  const [isOpen, setOpen] = useState(false);
  const { options, problem } = useCompletions(value, isOpen);
  const listId = useId();
  const [at, setAt] = useState(-1);
  const isShown = isOpen && options.length > 0;
  const active = isShown ? options[at] : undefined;
  const choose = (option: string) => {
    onChange(option);
    setAt(-1);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape" && isShown) setOpen(false);
    else if (event.key === "Enter" && active !== undefined) choose(active);
    else {
      const next = moveOption(event.key, isShown ? at : -1, options.length);
      if (next === undefined) return;
      setOpen(true);
      setAt(next);
    }
    event.preventDefault();
  };
  const hint = problem ?? `Left empty, it is ${workDir || "where the server works"}.`;
  return (
    <Field label="Directory" error={error} hint={hint}>
      {(control) => (
        <div className={css.combo}>
          <input
            {...control}
            className={`${control.className} ${css.path}`}
            role="combobox"
            aria-expanded={isShown}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={active === undefined ? undefined : `${listId}-${at}`}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder={workDir}
            value={value}
            maxLength={limits.path_bytes}
            onChange={(event) => {
              onChange(event.target.value);
              setAt(-1);
              setOpen(true);
            }}
            onClick={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onKeyDown={onKeyDown}
          />
          <Options id={listId} options={isShown ? options : []} at={at} onChoose={choose} />
        </div>
      )}
    </Field>
  );
}

interface OptionsProps {
  readonly id: string;
  readonly options: readonly string[];
  readonly at: number;
  readonly onChoose: (option: string) => void;
}

function Options({ id, options, at, onChoose }: OptionsProps) {
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [id, at]);
  return (
    <div
      id={id}
      className={css.options}
      role="listbox"
      tabIndex={-1}
      aria-label="Directories"
      hidden={options.length === 0}
    >
      {options.map((option, index) => (
        <div
          key={option}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          // The field keeps the focus: it goes on from what was chosen.
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(option);
          }}
        >
          <Isolated text={option} reading="decision" />
        </div>
      ))}
    </div>
  );
}

interface Completions {
  readonly options: readonly string[];
  /** Why there are none; no mistake before it is sent, as somebody is still typing. */
  readonly problem: string | undefined;
}

const none: Completions = { options: [], problem: undefined };

function useCompletions(typed: string, isWanted: boolean): Completions {
  const { client } = useApp();
  const [found, setFound] = useState(none);
  useEffect(() => {
    if (!isWanted) return;
    const ending = new AbortController();
    const timer = window.setTimeout(() => {
      void complete(client, typed, ending.signal).then((answer) => {
        if (!ending.signal.aborted) setFound(answer);
      });
    }, TYPED_MS);
    return () => {
      window.clearTimeout(timer);
      ending.abort();
    };
  }, [client, typed, isWanted]);
  return found;
}

async function complete(client: Client, typed: string, signal: AbortSignal): Promise<Completions> {
  try {
    const path = typed.trimStart();
    const answer = await client.call("directory.list", path === "" ? {} : { path }, { signal });
    return { options: completeDirectory(path, answer), problem: undefined };
  } catch (error) {
    return { options: [], problem: sayFault(error).replace(/^path: /, "") };
  }
}
