import type { CatalogueClient } from "./client.ts";

/** Ids of one search. */
const PAGE = 500;

/** Ids of items that should be in a collection and were taken out by somebody else. */
export async function findMissing(
  client: CatalogueClient,
  scope: string,
  collection: string,
  requested: readonly string[],
): Promise<ReadonlySet<string>> {
  const missing = new Set(requested);
  for (let start = 0; start < requested.length; start += PAGE) {
    const ids = requested.slice(start, start + PAGE);
    const { status, body } = await client.send(scope, "POST", "/stac/search", {
      ids,
      collections: [collection],
      limit: ids.length,
      fields: { include: ["id"] },
    });
    const features = status === 200 ? (body as { features: readonly { id: string }[] }).features : [];
    for (const { id } of features) {
      missing.delete(id);
    }
  }
  return missing;
}
