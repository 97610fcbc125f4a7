import { setImmediate as nextTurn } from "node:timers/promises";

import type { FastifyRequest } from "fastify";

import { baseOf } from "../http/context.ts";
import { summarize } from "../mapping/summary.ts";
import { toAtomEntry } from "../mapping/to-atom.ts";
import { type ElementSet, toDcRecord } from "../mapping/to-dc.ts";
import { toIsoRecord } from "../mapping/to-iso.ts";
import type { StoredRecord } from "../model/record.ts";
import { stripDeclaration } from "../xml/decode.ts";
import type { XmlElement } from "../xml/element.ts";
import { NS } from "../xml/namespaces.ts";
import { readXml } from "../xml/read.ts";
import { readSources } from "../store/read-sources.ts";
import type { CatalogueContext } from "../http/context.ts";
import type { CswVersion, OutputSchema } from "./versions.ts";

export interface RenderOptions {
  readonly version: CswVersion;
  readonly schema: OutputSchema;
  readonly set: ElementSet;
  readonly only?: ReadonlySet<string>;
  /** Each record is the root of its document. */
  readonly areRoots?: boolean;
}

/** Records in a schema. Those that came as ISO are sent as they came where the whole record is wanted. */
export async function renderRecords(
  context: CatalogueContext,
  request: FastifyRequest,
  records: readonly StoredRecord[],
  { version, schema, set, only, areRoots = false }: RenderOptions,
): Promise<string[]> {
  switch (schema) {
    case NS.gmd: {
      const kept = records.filter(({ format }) => format === "iso" && set === "full");
      const sources = await readSources(context.pool, kept);
      return records.map((record) => {
        const source = sources.get(record.n);
        return source === undefined ? toIsoRecord(summarize(record, context.viewLinks), set) : stripDeclaration(source);
      });
    }
    case NS.atom:
      return records.map((record) =>
        toAtomEntry(summarize(record, context.viewLinks), { ...atomLinks(request, record), isRoot: areRoots }),
      );
    default: {
      const roots = await readDublinCore(context, records);
      return records.map((record) => {
        const source = roots.get(record.n);
        return toDcRecord(summarize(record, context.viewLinks), {
          version,
          set,
          isRoot: areRoots,
          ...(only && { only }),
          ...(source && { source }),
        });
      });
    }
  }
}

/** Roots of the documents of records that came as Dublin Core, by their numbers. Each is parsed in a turn of its own. */
async function readDublinCore(
  { pool }: CatalogueContext,
  records: readonly StoredRecord[],
): Promise<ReadonlyMap<string, XmlElement>> {
  const kept = records.filter(({ format }) => format === "dc");
  const roots = new Map<string, XmlElement>();
  for (const [n, bytes] of await readSources(pool, kept)) {
    roots.set(n, (await readXml(bytes)).root);
    await nextTurn();
  }
  return roots;
}

/** Address of a record, and of its other forms. */
export function atomLinks(
  request: FastifyRequest,
  { collection, id, kind, format }: StoredRecord,
): { readonly self: string; readonly alternates: readonly { href: string; type: string; title: string }[] } {
  const base = baseOf(request);
  const item = `collections/${encodeURIComponent(collection)}${kind === "c" ? "" : `/items/${encodeURIComponent(id)}`}`;
  const csw = `${base}/csw?service=CSW&version=2.0.2&request=GetRecordById&elementSetName=full&id=${encodeURIComponent(id)}`;
  return {
    self: `${base}/opensearch?uid=${encodeURIComponent(id)}&parentIdentifier=${encodeURIComponent(collection)}`,
    alternates: [
      {
        href: `${base}/${format === "stac" ? "stac/" : ""}${item}`,
        type: format === "stac" && kind === "c" ? "application/json" : "application/geo+json",
        title: "JSON",
      },
      { href: `${base}/${format === "stac" ? "stac/" : ""}${item}?f=html`, type: "text/html", title: "Page" },
      {
        href: `${csw}&outputSchema=${encodeURIComponent(NS.gmd)}`,
        type: "application/vnd.iso.19139+xml",
        title: "ISO 19139",
      },
      { href: csw, type: "application/xml", title: "Dublin Core" },
    ],
  };
}
