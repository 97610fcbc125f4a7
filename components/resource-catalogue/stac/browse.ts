import type { FastifyInstance, FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import { readSingle } from "../http/parameters.ts";
import { parseToken, toTokenText } from "../query/page-token.ts";
import type { PageToken } from "../query/search-request.ts";
import { findCollection } from "../store/collections.ts";
import { searchRecords } from "../store/search.ts";
import { GEOJSON_TYPE, JSON_TYPE, type Link, browseUrl, collectionUrl, itemUrl, selfOf, stacRoot } from "./links.ts";
import { sendJson } from "./respond.ts";
import { refuseParameters } from "./search.ts";

/** Links to collections or items of one catalogue; what does not fit is in the catalogue that its last link leads to. */
const PAGE_SIZE = 1000;

/**
 * STAC API 1.0, Browseable: from the landing page every item is reached by `child` and `item` links alone, however many there are. A
 * collection has a catalogue of its items as its child, and a catalogue that is full has the next one.
 */
export function addBrowseRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  scope.get("/browse", async (request, reply) => {
    const root = stacRoot(request);
    const links = await linkCollections(context, await context.readerOf(request), root, readToken(request));
    return sendJson(
      reply,
      toCatalogue({
        id: "collections",
        title: "Collections",
        description: "Collections of this catalogue, by their ids.",
        links: [...frameLinks(root, root, selfOf(request)), ...links],
      }),
    );
  });
  scope.get<{ Params: { collection: string } }>("/collections/:collection/browse", async (request, reply) => {
    const { collection } = request.params;
    const reader = await context.readerOf(request);
    if ((await findCollection(context.pool, reader, collection)) === undefined) {
      throw notFound(`Collection ${JSON.stringify(collection)}`);
    }
    const root = stacRoot(request);
    const { records, next } = await searchRecords(context, {
      reader,
      kinds: ["i", "r"],
      collections: [collection],
      limit: PAGE_SIZE,
      countUpTo: 0,
      ...readToken(request),
    });
    const items = records.map(({ id }) => ({
      rel: "item",
      type: GEOJSON_TYPE,
      href: itemUrl(root, collection, id),
      title: id,
    }));
    const links = [
      ...frameLinks(root, collectionUrl(root, collection), selfOf(request)),
      ...items,
      ...toNext(browseUrl(root, collection), "More items", next),
    ];
    const description = `Items of the collection ${collection}, the newest first.`;
    return sendJson(reply, toCatalogue({ id: `${collection}:items`, title: "Items", description, links }));
  });
}

/** A `child` link to each collection that the reader may see, and one to what does not fit. */
export async function linkCollections(
  context: CatalogueContext,
  reader: Reader,
  root: string,
  after: { readonly after?: PageToken } = {},
): Promise<readonly Link[]> {
  const { records, next } = await searchRecords(context, {
    reader,
    kinds: ["c"],
    limit: PAGE_SIZE,
    sort: [{ property: "id", direction: "asc" }],
    countUpTo: 0,
    ...after,
  });
  const children = records.map(({ id, text }) => ({
    rel: "child",
    type: JSON_TYPE,
    href: collectionUrl(root, id),
    title: (JSON.parse(text) as { title?: string }).title ?? id,
  }));
  return [...children, ...toNext(`${root}/browse`, "More collections", next)];
}

function readToken(request: FastifyRequest): { readonly after?: PageToken } {
  refuseParameters(request, ["token"]);
  const { token } = readSingle(request);
  return token === undefined ? {} : { after: parseToken(token) };
}

const toNext = (href: string, title: string, next: PageToken | undefined): readonly Link[] =>
  next === undefined ? [] : [{ rel: "child", type: JSON_TYPE, href: `${href}?token=${toTokenText(next)}`, title }];

const frameLinks = (root: string, parent: string, self: string): readonly Link[] => [
  { rel: "self", type: JSON_TYPE, href: self },
  { rel: "root", type: JSON_TYPE, href: root },
  { rel: "parent", type: JSON_TYPE, href: parent },
];

const toCatalogue = (members: {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly links: readonly Link[];
}): string => JSON.stringify({ type: "Catalog", stac_version: "1.1.0", ...members });
