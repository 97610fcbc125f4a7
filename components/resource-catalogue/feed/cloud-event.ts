import type { Change } from "../store/changes.ts";
import { toPositionText } from "./position.ts";

/** A change as a CloudEvent 1.0. Its id is its place in the feed, so that one that comes twice is known. */
export function toCloudEvent(change: Change, publicUrl: string): Readonly<Record<string, unknown>> {
  const { collection, id, operation, isCollection, madeAt } = change;
  const parent = `${publicUrl}/stac/collections/${encodeURIComponent(collection)}`;
  return {
    specversion: "1.0",
    id: toPositionText(change.position),
    source: publicUrl,
    type: `org.swath.catalogue.${isCollection ? "collection" : "item"}.${operation}`,
    subject: isCollection ? collection : `${collection}/${id}`,
    time: madeAt.toISOString(),
    datacontenttype: "application/json",
    data: {
      operation,
      collection,
      ...(!isCollection && { id }),
      href: isCollection ? parent : `${parent}/items/${encodeURIComponent(id)}`,
    },
  };
}
