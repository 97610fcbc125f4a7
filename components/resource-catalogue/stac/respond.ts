import type { FastifyReply, FastifyRequest } from "fastify";

import type { CatalogueContext } from "../http/context.ts";
import { type StoredRecord, renderDocument, toEtag } from "../model/record.ts";
import { recordToStacItem } from "../mapping/to-stac-item.ts";
import type { ViewLinks } from "../model/view-links.ts";
import type { SearchResult } from "../store/search.ts";
import { type Fields, selectFields } from "./fields.ts";
import { GEOJSON_TYPE, JSON_TYPE, type Link, collectionLinks, itemLinks, stacRoot, toText } from "./links.ts";

/** What links of records are made of. */
export interface LinkContext {
  readonly root: string;
  readonly viewLinks: ViewLinks;
}

export const linkContextOf = (
  { viewLinks }: Pick<CatalogueContext, "viewLinks">,
  request: FastifyRequest,
): LinkContext => ({ root: stacRoot(request), viewLinks });

/** An item as JSON. */
export function renderItem({ root, viewLinks }: LinkContext, record: StoredRecord, fields?: Fields): string {
  const links = join(itemLinks(root, record.collection, record.id), toText(viewLinks(record)));
  const text = record.kind === "i" ? renderDocument(record, links) : renderOther(record, links);
  return fields === undefined
    ? text
    : JSON.stringify(selectFields(JSON.parse(text) as Readonly<Record<string, unknown>>, fields));
}

/** A record that is no STAC, as an item. */
function renderOther(record: StoredRecord, links: string): string {
  const { links: own, ...item } = recordToStacItem(record) as { links: readonly unknown[] };
  return `${JSON.stringify(item).slice(0, -1)},"links":[${[links, ...own.map((link) => JSON.stringify(link))].join(",")}]}`;
}

export const renderCollection = ({ root, viewLinks }: LinkContext, record: StoredRecord): string =>
  renderDocument(record, join(collectionLinks(root, record.collection), toText(viewLinks(record))));

const join = (links: string, others: string): string => (others === "" ? links : `${links},${others}`);

interface Page extends LinkContext {
  readonly result: SearchResult;
  readonly links: readonly Link[];
  readonly fields: Fields | undefined;
}

/** An ItemCollection. Written as text, from documents that are JSON already. */
export function renderItems({ result: { records, matched }, links, fields, ...context }: Page): string {
  const features = records.map((record) => renderItem(context, record, fields)).join(",");
  const counted =
    matched === undefined
      ? ""
      : `,"numberMatched":${matched.count}${matched.isLowerBound ? ',"numberMatchedIsLowerBound":true' : ""}`;
  return `{"type":"FeatureCollection","features":[${features}],"links":[${toText(links)}]${counted},"numberReturned":${records.length}}`;
}

export function sendJson(reply: FastifyReply, text: string, type: string = JSON_TYPE): FastifyReply {
  return reply.header("content-type", type).send(text);
}

export function sendRecord(reply: FastifyReply, record: StoredRecord, text: string): FastifyReply {
  void reply.header("etag", toEtag(record)).header("last-modified", record.changedAt.toUTCString());
  return sendJson(reply, text, record.kind === "c" ? JSON_TYPE : GEOJSON_TYPE);
}
