import type { FaultBody } from "#contract/fault.ts";
import type { ScreenState, ScreenText } from "#contract/operations/screen.ts";
import type { ScreenSize } from "#screen/emulator/emulator.ts";

/** What the worker is asked. It reads the log itself, up to the tail that it is told. */
export interface ScreenRequest {
  readonly session_id: string;
  /** Of the session. */
  readonly folder: string;
  /** `none`: only come up to the tail. */
  readonly format: "text" | "state" | "none";
  /** Undefined = the tail. */
  readonly at: number | undefined;
  readonly tail: number;
  readonly sizeAtTail: ScreenSize;
  readonly convertEol: boolean;
}

export type ScreenAnswer = ScreenText | ScreenState | { readonly offset: number };

export interface ToWorker {
  readonly id: number;
  readonly request: ScreenRequest;
}

export type FromWorker =
  /** It has started, or draws this many. */
  | { readonly beat: number }
  | { readonly id: number; readonly answer: ScreenAnswer }
  | { readonly id: number; readonly fault: FaultBody };
