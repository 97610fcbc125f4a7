import type { ContentFiles } from "./content/content-files.ts";
import type { IndexDatabase } from "./index/index-database.ts";

const WATERMARK = "settled-before";

/**
 * Deletes content files that no row of the index knows: what a crash left of writes that were never acknowledged. Looks
 * only at the hours since the watermark, so a store of millions of files starts at once. Gives back how many it deleted.
 */
export async function deleteOrphans(index: IndexDatabase, files: ContentFiles): Promise<number> {
  const since = index.get<{ value: string }>("select value from meta where name = ?", WATERMARK)?.value ?? "";
  let deleted = 0;
  for await (const id of files.list(since)) {
    if (!files.isUnsettled(id) && index.get("select 1 from files where id = ?", id) === undefined) {
      await files.remove(id);
      deleted += 1;
    }
  }
  return deleted;
}

/** Notes up to which hour all content files are settled; called at intervals. */
export async function moveWatermark(index: IndexDatabase, files: ContentFiles): Promise<void> {
  const value = files.settledBefore();
  await index.mutate(() => {
    index.run(
      "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value where value < excluded.value",
      WATERMARK,
      value,
    );
  });
}
