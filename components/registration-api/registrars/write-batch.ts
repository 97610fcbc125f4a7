import type { LocatedItem } from "../catalogue/writer.ts";
import type { TaskContext } from "../queue/run-task.ts";
import type { AddressRequest, Tools } from "./registrar-context.ts";

/**
 * Writes items and counts what came of them.
 * @returns the ids of those that were refused
 */
export async function writeBatch(
  { writer }: Pick<Tools, "writer">,
  context: TaskContext,
  {
    origin,
    collection,
    batch,
  }: { readonly origin: AddressRequest["origin"]; readonly collection: string; readonly batch: readonly LocatedItem[] },
): Promise<readonly string[]> {
  const { registered, unchanged, problems, records } = await writer.writeItems(origin, collection, batch);
  context.count({ registered, unchanged });
  records.forEach(context.noteRecord);
  await context.report(problems);
  return problems.map(({ record }) => record);
}
