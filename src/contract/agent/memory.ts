import * as z from "zod";

/** What one team may remember, and how much of it at once. */
const MEMORY_CHARS = 4000;
export const MEMORIES_PER_TEAM = 1000;

export const MemoryText = z
  .string()
  .max(MEMORY_CHARS)
  .refine((text) => text.trim() !== "", "the text is empty");

/** Something that a team keeps beyond the session that learned it. */
export const Memory = z.object({
  memory_id: z.string().regex(/^mem_[0-9a-z]{16}$/, "looks like mem_ and 16 letters or digits"),
  text: MemoryText,
  created_at: z.iso.datetime(),
});
export type Memory = z.infer<typeof Memory>;

/** The memories of one team. Several processes may use them at once. */
export interface MemoryStore {
  /** `too_many` when there is no room left. The same text again is the memory that is there. */
  add(text: string): Memory;
  /** The best match first; any of the words will do. */
  search(query: string, limit: number): readonly Memory[];
  /** The newest first. */
  list(limit: number): readonly Memory[];
  count(): number;
  /** False when there is none. */
  remove(memoryId: string): boolean;
}
