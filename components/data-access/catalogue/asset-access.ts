import type { StacItem } from "@swath/stac";
import { LRUCache } from "lru-cache";

import { type Reading, holds } from "../layers/basis.ts";
import type { Caller } from "../layers/layer.ts";
import { type StorageSettings, toObject } from "../layers/locate-asset.ts";
import type { CatalogueClient } from "./client.ts";

const MAX_KEPT = 5000;

/** Says of each bucket that items name whether the catalogue leads the caller to its objects by them. */
export type FindReadableBuckets = (
  items: readonly StacItem[],
  hrefOf: (item: StacItem, href: string) => string,
  caller: Caller,
  signal: AbortSignal | undefined,
) => Promise<(collection: string, bucket: string) => boolean>;

/**
 * A record may name any bucket, and this service's keys read them all. So the catalogue is asked for a link to an asset as the caller
 * would ask: it signs links into the bucket of the collection's own workspace, and into others for collections of the platform.
 * Its word for one asset of a collection in a bucket is its word for the others there.
 */
export function createAssetAccess(
  client: CatalogueClient,
  { publicUrl }: Pick<StorageSettings, "publicUrl">,
): FindReadableBuckets {
  const kept = new LRUCache<string, { readonly reading: Reading; readonly verdict: Promise<boolean> }>({
    max: MAX_KEPT,
  });

  const send = (
    asset: Parameters<CatalogueClient["findAssetLink"]>[0],
    bucket: string,
    caller: Caller,
    signal: AbortSignal | undefined,
  ): Promise<boolean> => {
    const key = JSON.stringify([asset.collection, bucket, caller.authorization, caller.hostname]);
    const known = kept.get(key);
    if (known !== undefined && holds(known.reading)) {
      caller.basis?.note(known.reading);
      return known.verdict;
    }
    // Whose a bucket is, no feed tells.
    const reading: Reading = { askedAt: Date.now() };
    caller.basis?.note(reading);
    const verdict = client
      .findAssetLink(asset, caller, signal)
      .then((link) => link !== undefined && isSignedLink(link, publicUrl, bucket));
    kept.set(key, { reading, verdict });
    verdict.catch(() => kept.delete(key));
    return verdict;
  };

  return async (items, hrefOf, caller, signal) => {
    const requested = new Map<string, { bucket: string; asset: Parameters<CatalogueClient["findAssetLink"]>[0] }>();
    for (const item of items) {
      for (const [key, { href }] of Object.entries(item.assets)) {
        const bucket = toObject(hrefOf(item, href), publicUrl)?.bucket;
        const { collection } = item;
        if (bucket !== undefined && collection !== undefined) {
          const id = JSON.stringify([collection, bucket]);
          requested.set(id, requested.get(id) ?? { bucket, asset: { collection, item: item.id, key } });
        }
      }
    }
    const verdicts = new Map(
      await Promise.all(
        [...requested].map(async ([id, { bucket, asset }]) => [id, await send(asset, bucket, caller, signal)] as const),
      ),
    );
    return (collection, bucket) => verdicts.get(JSON.stringify([collection, bucket])) === true;
  };
}

/** A link that was merely copied from the record leads to the storage as well, but nobody vouches for it. */
function isSignedLink(link: string, publicUrl: string, bucket: string): boolean {
  if (!URL.canParse(link)) {
    return false;
  }
  const { search } = new URL(link);
  return link.startsWith(`${publicUrl}/${encodeURIComponent(bucket)}/`) && search.includes("X-Amz-Signature=");
}
