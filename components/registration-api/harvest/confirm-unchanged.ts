import type { TaskContext } from "../queue/run-task.ts";
import type { Tools } from "../registrars/registrar-context.ts";
import type { Origin } from "../store/records.ts";
import type { UnchangedRecord } from "./pages.ts";

/** Notes what is as it was. @returns what is gone from the catalogue all the same */
export async function confirmUnchanged(
  { writer }: Tools,
  context: TaskContext,
  origin: Origin,
  records: readonly UnchangedRecord[],
): Promise<readonly UnchangedRecord[]> {
  if (records.length === 0) {
    return [];
  }
  const gone = await writer.confirmRecords(origin, records);
  context.count({ unchanged: records.length - gone.length });
  return gone;
}
