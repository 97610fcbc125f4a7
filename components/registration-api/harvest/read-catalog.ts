import { isStac, parseStac, walkItems } from "@swath/stac";

import { normalizeItem } from "../registrars/normalize-item.ts";
import { createTolerantReader, keepGoodParts, parseJson, readWithPatience } from "../registrars/read-tolerantly.ts";
import type { SourceDocument } from "../sources/source-types.ts";
import type { HarvestedLink } from "../store/harvested-links.ts";
import type { KnownDocument, ReadDocument } from "../store/read-documents.ts";
import type { HarvesterConfig } from "./config.ts";
import type { HarvestedPage, PageOptions, UnchangedRecord } from "./pages.ts";

const CATALOG_PAGE = 200;
const MAX_DOCUMENTS = 1_000_000;
const MAX_DEPTH = 64;
/** Characters of a catalogue that are kept. */
const MAX_KEPT_LENGTH = 8 * 2 ** 20;

/**
 * The items of a static catalogue. Documents whose source says that they are unchanged since the last run are not read again: the catalogue's
 * links are followed as they were, and the records of items are handed on as unchanged.
 */
export async function* readCatalog(
  { resource }: HarvesterConfig,
  { sources, read, findKnown, failures }: PageOptions,
): AsyncGenerator<HarvestedPage> {
  const options = { ...read, headers: resource.headers };
  const documents = new Map<string, ReadDocument>();
  const skipped = new Map<string, UnchangedRecord>();
  let catalogs: ReadDocument[] = [];

  /** Reads a document, unless it is unchanged. */
  const load = async (href: string): Promise<{ readonly value: unknown; readonly href: string }> => {
    const address = sources.normalize(href);
    const known = await findKnown?.(address);
    const document = await readWithPatience(sources, href, {
      accept: "application/geo+json, application/json",
      ...options,
      ...(known !== undefined && { ifChangedFrom: known }),
    });
    if (document.isUnchanged === true && known !== undefined) {
      return toKnownValue(known, href);
    }
    const value = parseJson(document.bytes, href);
    const noted = toReadDocument(document, address, sources.normalize(document.href));
    if (noted !== undefined && isStac(value)) {
      const { type } = parseStac(value, document.href);
      if (type === "Feature") {
        documents.set(noted.document, noted);
      } else if (type !== "FeatureCollection" && document.bytes.length <= MAX_KEPT_LENGTH) {
        catalogs.push({ ...noted, content: document.bytes.toString("utf8") });
      }
    }
    return { value, href: document.href };
  };
  const toKnownValue = (
    known: KnownDocument,
    requested: string,
  ): { readonly value: unknown; readonly href: string } => {
    const { address, content, record, document } = known;
    // Relative addresses start from where it was asked for, as when it is read.
    const href = address === document ? requested : document;
    if (content !== undefined) {
      return { value: JSON.parse(content), href };
    }
    if (record !== undefined) {
      skipped.set(document, { ...record, document });
    }
    // The walk meets an item here; what is in it is in the catalogue already.
    const value = {
      type: "Feature",
      stac_version: "1.0.0",
      id: record?.id,
      geometry: null,
      properties: {},
      assets: {},
    };
    return { value, href };
  };

  let items: HarvestedPage["items"][number][] = [];
  let unchanged: UnchangedRecord[] = [];
  let links: HarvestedLink[] = [];
  const takePage = (): HarvestedPage => {
    const page = { items, unchanged, problems: failures.take(), catalogs, links };
    [items, unchanged, catalogs, links] = [[], [], [], []];
    return page;
  };
  const readTolerantly = createTolerantReader(load, options, failures);
  const root = await load(resource.url);
  const walk = walkItems(
    { href: root.href, value: keepGoodParts(root.value, root.href, failures.note) },
    {
      read: async (href, from, rel) => {
        const found = await readTolerantly(href, from, rel);
        const [address, document] = [sources.normalize(href), sources.normalize(found.href)];
        links.push({ document: address, parent: sources.normalize(from) });
        if (document !== address) {
          // Redirected: what it links to names this address, a later failure that one.
          links.push({ document, parent: address });
        }
        return found;
      },
      maxDocuments: MAX_DOCUMENTS,
      maxDepth: MAX_DEPTH,
      onTooDeep: ({ where, problem }) => {
        failures.note({ record: where, reason: problem });
        failures.noteMissedCatalog(where);
      },
    },
  );
  for await (const { item, href, document } of walk) {
    const address = sources.normalize(document);
    const known = skipped.get(address);
    if (known === undefined) {
      const noted = documents.get(address);
      items.push({
        item: normalizeItem(item, href),
        document: address,
        ...(item.collection !== undefined && { collection: item.collection }),
        ...(noted !== undefined && { read: noted }),
      });
    } else {
      unchanged.push(known);
    }
    skipped.delete(address);
    documents.delete(address);
    if (items.length + unchanged.length >= CATALOG_PAGE) {
      // Without a position: another attempt walks from the beginning again, and what was written is unchanged then.
      yield takePage();
    }
  }
  yield takePage();
}

/** What tells later whether a document changed; undefined where its source says nothing of that. */
function toReadDocument(
  { etag, lastModified }: SourceDocument,
  address: string,
  document: string,
): ReadDocument | undefined {
  return etag === undefined && lastModified === undefined
    ? undefined
    : { address, document, ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}
