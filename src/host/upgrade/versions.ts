import * as z from "zod";
import { Fault } from "#contract/fault.ts";
import { DATA_FORMAT } from "#host/data-dir.ts";
import { HAND_OVER_VERSION, READ_VERSIONS } from "#host/session/hand-over.ts";
import { RECORD_VERSION } from "#host/session/session-record.ts";
import { INDEX_VERSION } from "#log/index-format.ts";

/** What a program says of itself before it is let into the host's place; fields are only ever added. */
export const ProgramVersions = z.object({
  version: z.string(),
  hand_over: z.array(z.int()),
  data_format: z.int(),
  record: z.int(),
  index: z.int(),
  /** Inputs of named attachments are understood. */
  numbered: z.boolean().default(false),
});
export type ProgramVersions = z.infer<typeof ProgramVersions>;

export function ownVersions(version: string): ProgramVersions {
  return {
    version,
    hand_over: [...READ_VERSIONS],
    data_format: DATA_FORMAT,
    record: RECORD_VERSION,
    index: INDEX_VERSION,
    numbered: true,
  };
}

/** Throws `unsupported` unless that program reads all that we have written and would hand over. */
export function checkVersions(theirs: ProgramVersions): void {
  if (!theirs.hand_over.includes(HAND_OVER_VERSION))
    throw refusal(theirs, `a hand-over of version ${HAND_OVER_VERSION}`);
  if (theirs.data_format < DATA_FORMAT) throw refusal(theirs, `data of format ${DATA_FORMAT}`);
  if (theirs.record < RECORD_VERSION) throw refusal(theirs, `records of version ${RECORD_VERSION}`);
  if (theirs.index < INDEX_VERSION) throw refusal(theirs, `logs of version ${INDEX_VERSION}`);
}

function refusal(theirs: ProgramVersions, what: string): Fault {
  return new Fault(
    "unsupported",
    `reins ${theirs.version} cannot read ${what}, which this host has; it goes on as it is`,
    { details: { theirs } },
  );
}
