import type pg from "pg";

import type { KnownRecord } from "./records.ts";

/** A document of a static catalogue as it was read last. */
export interface ReadDocument {
  readonly address: string;
  /** Its address after redirects. */
  readonly document: string;
  readonly etag?: string;
  readonly lastModified?: string;
  /** Of a catalogue or a collection: the whole of it. */
  readonly content?: string;
}

/** One that need not be read again while it is unchanged: its content is here, or its record in the catalogue. */
export interface KnownDocument extends ReadDocument {
  readonly record?: KnownRecord;
}

interface HarvesterKey {
  readonly scope: string;
  readonly name: string;
}

/** What is known of a document; undefined where it must be read, since neither its content nor its record is there. */
export async function findReadDocument(
  pool: pg.Pool,
  { scope, name }: HarvesterKey,
  address: string,
): Promise<KnownDocument | undefined> {
  const { rows } = await pool.query<{
    document: string;
    etag: string | null;
    last_modified: string | null;
    content: string | null;
    collection: string | null;
    id: string | null;
  }>(
    `select d.document, d.etag, d.last_modified, d.content, r.collection, r.id
     from read_document d left join record r
       on r.scope = d.scope and r.document = d.document and r.harvester = d.harvester and octet_length(r.hash) > 0
     where d.scope = $1 and d.harvester = $2 and d.address = $3 limit 1`,
    [scope, name, address],
  );
  const [row] = rows;
  if (row === undefined || (row.content === null && row.id === null)) {
    return undefined;
  }
  return {
    address,
    document: row.document,
    ...(row.etag !== null && { etag: row.etag }),
    ...(row.last_modified !== null && { lastModified: row.last_modified }),
    ...(row.content !== null && { content: row.content }),
    ...(row.collection !== null && row.id !== null && { record: { collection: row.collection, id: row.id } }),
  };
}

/** Notes documents whose records are in the catalogue now. */
export async function keepReadDocuments(
  pool: pg.Pool,
  { scope, name }: HarvesterKey,
  documents: readonly ReadDocument[],
): Promise<void> {
  const last = [...new Map(documents.map((each) => [each.address, each])).values()];
  if (last.length === 0) {
    return;
  }
  await pool.query(
    `insert into read_document (scope, harvester, address, document, etag, last_modified, content)
     select $1, $2, x.* from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as x
     on conflict (scope, harvester, address) do update set document = excluded.document, etag = excluded.etag,
       last_modified = excluded.last_modified, content = excluded.content`,
    [
      scope,
      name,
      last.map(({ address }) => address),
      last.map(({ document }) => document),
      last.map(({ etag }) => etag ?? null),
      last.map(({ lastModified }) => lastModified ?? null),
      last.map(({ content }) => content ?? null),
    ],
  );
}

/** Forgets documents whose records are gone: they are read when they come again. */
export async function forgetReadDocuments(pool: pg.Pool, { scope, name }: HarvesterKey): Promise<void> {
  await pool.query(
    `delete from read_document d where d.scope = $1 and d.harvester = $2 and d.content is null and not exists (
       select from record r where r.scope = d.scope and r.document = d.document and r.harvester = d.harvester and octet_length(r.hash) > 0)`,
    [scope, name],
  );
}
