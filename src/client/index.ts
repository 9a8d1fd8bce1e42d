/** What `reins/client` is: the typed client, for browsers and for Node. */

export { Fault } from "#contract/fault.ts";
export type { FaultCode } from "#contract/faults.ts";
export type { CallName, DocumentName, StreamName } from "#contract/operations.ts";
export type { Runtime, RuntimeBackend } from "#contract/runtime/runtime.ts";
export type { DocumentAnswer } from "./answers.ts";
export type { Attachment, AttachOptions } from "./attach/attachment.ts";
export type { AttachEvent, OutputEvent } from "./attach/frames.ts";
export {
  type CallOptions,
  createClient,
  type ServerClient as Client,
  type StreamOptions,
} from "./client.ts";
export { openRemoteBackend } from "./runtime.ts";
export type { Terminals, TerminalsEvent, TerminalsOptions } from "./terminals.ts";
export type { ClientOptions } from "./transport.ts";
