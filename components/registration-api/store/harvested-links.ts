import type pg from "pg";

/** A document of a static catalogue, and the one that links to it: addresses. */
export interface HarvestedLink {
  readonly document: string;
  readonly parent: string;
}

interface RunKey {
  readonly scope: string;
  readonly harvester: string;
  readonly run: string;
}

/** Notes links that a run followed. */
export async function noteLinks(
  pool: pg.Pool,
  { scope, harvester, run }: RunKey,
  links: readonly HarvestedLink[],
): Promise<void> {
  const last = [...new Map(links.map((link) => [link.document, link])).values()];
  if (last.length === 0) {
    return;
  }
  await pool.query(
    `insert into harvested_link (scope, harvester, run, document, parent)
     select $1, $2, $3, x.* from unnest($4::text[], $5::text[]) as x
     on conflict (scope, harvester, document) do update set parent = excluded.parent, run = excluded.run`,
    [scope, harvester, run, last.map(({ document }) => document), last.map(({ parent }) => parent)],
  );
}

/**
 * Marks what earlier runs met below the given catalogues, which this run could not read, as met. Records of which no link is known, as of
 * versions that noted none, may be below them and are marked, too.
 */
export async function keepBelow(
  pool: pg.Pool,
  { scope, harvester, run }: RunKey,
  catalogs: readonly string[],
): Promise<void> {
  await pool.query(
    `with recursive below as (
       select document from harvested_link where scope = $1 and harvester = $2 and parent = any($4)
       union
       select l.document from harvested_link l join below b on l.parent = b.document where l.scope = $1 and l.harvester = $2),
     kept as (
       update harvested_link l set run = $3 from below b
       where l.scope = $1 and l.harvester = $2 and l.document = b.document and l.run < $3)
     update record r set run = $3 where r.scope = $1 and r.harvester = $2 and r.run < $3 and (
       r.document in (select document from below) or not exists (
         select from harvested_link l where l.scope = $1 and l.harvester = $2 and l.document = r.document))`,
    [scope, harvester, run, catalogs],
  );
}

/** Forgets links that the run did not meet. */
export async function forgetLinks(pool: pg.Pool, { scope, harvester, run }: RunKey): Promise<void> {
  await pool.query("delete from harvested_link where scope = $1 and harvester = $2 and run < $3", [
    scope,
    harvester,
    run,
  ]);
}
