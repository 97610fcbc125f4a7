import type { Footprint, Ring } from "./footprint.ts";

/** A record on its way into the store: the document and the columns that it is searched by. */
export interface NewRecord {
  readonly kind: RecordKind;
  readonly id: string;
  /** dataset, collection, service, application, process … */
  readonly type: string;
  /** Left out for a record without time. */
  readonly time?: { readonly at: string; readonly start: string; readonly end: string };
  readonly bbox?: Footprint["box"];
  readonly shapes?: readonly Ring[];
  readonly holes?: readonly Ring[];
  readonly heights?: readonly [low: number, high: number];
  readonly cloud?: number;
  readonly words: string;
  /** JSON text of what filters and sorting read. */
  readonly properties: string;
  readonly document: SplicedDocument;
  readonly format: RecordFormat;
  /** What came, where the document was made from it. */
  readonly source?: { readonly bytes: Buffer; readonly type: string };
}

/** i: a STAC item; r: any other record; c: a collection. */
export type RecordKind = "i" | "r" | "c";
export type RecordFormat = "stac" | "ogc" | "iso" | "dc";

/** A JSON document as it came, and what is put into it when it is sent. */
export interface SplicedDocument {
  readonly text: string;
  /** Where the value of the member `links` stands; the end of the document, before its brace, where it has none. */
  readonly linksFrom: number;
  readonly linksTo: number;
  /** The record's own links, as JSON without the brackets. */
  readonly links: string;
  /** Members to add before the closing brace, each with a leading comma. */
  readonly extra: string;
}

/** A record as it was stored. */
export interface StoredRecord extends SplicedDocument {
  /** Its number: grows with every new record of the catalogue. */
  readonly n: string;
  readonly version: number;
  readonly kind: RecordKind;
  readonly collection: string;
  readonly workspace: string | null;
  readonly id: string;
  readonly type: string;
  readonly format: RecordFormat;
  readonly madeAt: Date;
  readonly changedAt: Date;
}

/** A document as it is sent: with these links (JSON objects) before its own. */
export function renderDocument(document: SplicedDocument, links: string): string {
  const { text, linksFrom, linksTo, links: own, extra } = document;
  const all = own === "" ? links : links === "" ? own : `${links},${own}`;
  if (linksFrom === linksTo) {
    return `${text.slice(0, linksFrom)},"links":[${all}]${extra}}`;
  }
  if (extra === "") {
    return `${text.slice(0, linksFrom)}[${all}]${text.slice(linksTo)}`;
  }
  const end = text.lastIndexOf("}");
  return `${text.slice(0, linksFrom)}[${all}]${text.slice(linksTo, end)}${extra}}`;
}

export const toEtag = ({ n, version }: Pick<StoredRecord, "n" | "version">): string => `"${n}-${version}"`;

/** A record that has just been stored for the first time, as it would be read. */
export function toNewlyStored(
  { kind, id, type, format, document }: NewRecord,
  { n, version, at }: { readonly n: string; readonly version: number; readonly at: Date },
  { id: collection, workspace }: { readonly id: string; readonly workspace: string | null },
): StoredRecord {
  return { ...document, n, version, kind, collection, workspace, id, type, format, madeAt: at, changedAt: at };
}
