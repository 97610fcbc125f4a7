import { inTransaction } from "@swath/postgres/pool";

import type { Registrar } from "../queue/run-task.ts";
import { type KnownRecord, findRecords, markRemoved } from "../store/records.ts";
import type { Tools } from "./registrar-context.ts";

/**
 * Takes records out: by their id, or all that were registered from an address. What is not there is no failure: the same removal twice changes
 * nothing.
 */
export function createDeregisterRegistrar(tools: Tools): Registrar {
  const { pool, sources, writer, client } = tools;
  return async (context) => {
    const { task, signal } = context;
    const { identifier, url } = task.payload as { identifier?: string; url?: string };
    const origin = { scope: task.scope, sequence: task.id };
    const found: KnownRecord[] = [];
    if (identifier !== undefined) {
      // A product may be named without the end of its folder's name.
      const ids = [identifier, `${identifier}.SAFE`];
      await inTransaction(pool, (db) => markRemoved(db, { scope: task.scope, sequence: task.id, ids }));
      for (const id of ids) {
        const known = await findRecords(pool, task.scope, { id });
        found.push(...(known.length > 0 ? known : await findInCatalogue(tools, task.scope, id)));
        if (found.length > 0) {
          break;
        }
      }
    }
    if (url !== undefined) {
      const address = sources.normalize(url);
      found.push(...(await findRecords(pool, task.scope, { addresses: [url, address, ...variantsOf(address)] })));
    }
    for (const record of found.filter(({ collection }) => collection !== "")) {
      signal.throwIfAborted();
      context.count({ removed: await writer.removeRecords(origin, [record]) });
      context.noteRecord(`${record.collection}/${record.id}`);
    }
    for (const record of found.filter(({ collection }) => collection === "")) {
      const { status, body } = await client.send(task.scope, "POST", "/stac/search", {
        collections: [record.id],
        limit: 1,
        fields: { include: ["id"] },
      });
      // Items that came from elsewhere keep their collection, unless it was named itself.
      if (
        identifier === undefined &&
        status === 200 &&
        (body as { features: readonly unknown[] }).features.length > 0
      ) {
        continue;
      }
      context.count({ removed: await writer.removeRecords(origin, [record]) });
      context.noteRecord(record.id);
    }
  };
}

/** Records that came into the catalogue by another way. */
async function findInCatalogue({ client }: Tools, scope: string, id: string): Promise<readonly KnownRecord[]> {
  const { status, body } = await client.send(scope, "POST", "/stac/search", { ids: [id], limit: 100 });
  const items = status === 200 ? (body as { features: readonly { collection?: string }[] }).features : [];
  if (items.length > 0) {
    return items.map(({ collection = "" }) => ({ collection, id }));
  }
  const main = scope === "" ? "metadata:main" : `metadata:${scope}`;
  const record = await client.send(
    scope,
    "GET",
    `/collections/${encodeURIComponent(main)}/items/${encodeURIComponent(id)}`,
  );
  if (record.status === 200) {
    return [{ collection: (record.body as { collection?: string }).collection ?? main, id }];
  }
  const collection = await client.send(scope, "GET", `/stac/collections/${encodeURIComponent(id)}`);
  return collection.status === 200 ? [{ collection: "", id }] : [];
}

/** Addresses that mean the same: a folder and its catalogue; clients leave out the scheme. */
function variantsOf(address: string): readonly string[] {
  const folder = address.endsWith("/") ? [`${address}catalog.json`, address.slice(0, -1)] : [];
  const bare = /^[a-z][a-z0-9+.-]*:/i.test(address)
    ? []
    : ["s3://", "https://", "http://"].map((scheme) => `${scheme}${address}`);
  return [...folder, ...bare];
}
