import { localPlaces, type Places } from "#app/session.ts";
import type { TaskId } from "#contract/ids.ts";

/** Tasks are the server's, but what it keeps can be read without it: the one that a run is for. */
export async function findTaskPlaces(task: string | undefined): Promise<Places> {
  if (task === undefined) return localPlaces;
  const { openRecords } = await import("#cli/admin/records.ts");
  using records = await openRecords(undefined);
  // Whatever it looks like, one that is not there is `task_not_found`.
  const found = await records.operations["task.get"]({ task_id: task as TaskId });
  return { ...localPlaces, findTask: () => found };
}
