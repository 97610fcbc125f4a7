import { MAIN_COLLECTION, type Reader } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import type { RecordKind } from "../model/record.ts";
import { findCollection } from "../store/collections.ts";

/** What a collection of the OGC APIs shows: `metadata:main` every record that there is, any other its own. */
export interface CollectionScope {
  readonly kinds: readonly RecordKind[];
  readonly collections?: readonly string[];
}

/** @throws {Problem} 404 for a collection that does not exist or is not the reader's to see */
export async function resolveScope(
  { pool }: Pick<CatalogueContext, "pool">,
  reader: Reader,
  collection: string,
): Promise<CollectionScope> {
  if (collection === MAIN_COLLECTION) {
    return { kinds: ["i", "r", "c"] };
  }
  if ((await findCollection(pool, reader, collection)) === undefined) {
    throw notFound(`Collection ${JSON.stringify(collection)}`);
  }
  return { kinds: ["i", "r"], collections: [collection] };
}
