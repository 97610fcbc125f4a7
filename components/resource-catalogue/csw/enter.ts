import type { FastifyRequest } from "fastify";

import { type Reader, mainCollectionOf, mayWrite } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import type { CollectionEntry } from "../store/collections.ts";
import { ensureMainRecord } from "../store/main-collection.ts";
import { enterForWriting } from "../stac/transactions.ts";

/** The collection that records of CSW are written to: of the platform, or of the workspace whose host this is. @throws {Problem} 401, 403 */
export async function enterMainCollection(
  context: CatalogueContext,
  request: FastifyRequest,
): Promise<{ readonly reader: Reader; readonly entry: CollectionEntry }> {
  const reader = await context.readerOf(request);
  if (reader.only !== undefined && mayWrite(reader, { workspace: reader.only })) {
    await ensureMainRecord(context.pool, mainCollectionOf(reader), reader.only);
  }
  return enterForWriting(context, request, mainCollectionOf(reader));
}
