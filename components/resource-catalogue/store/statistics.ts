import type pg from "pg";

import type { SearchRequest } from "../query/search-request.ts";

/** How long figures are used before they are read again, in the background. */
const TTL_MS = 30_000;
const EARTH = 360 * 180;
/** Matches that are always collected and sorted: fewer than this cost next to nothing. */
const MAX_COLLECTED = 3000;
/** What it costs to collect and sort a match, beside walking on in an index. */
const COLLECT_COST = 1.5;

interface Figures {
  readonly total: number;
  /** Share of each collection that is not rare, by its id. */
  readonly shares: ReadonlyMap<string, number>;
  /** Times, in milliseconds, with how many records each stands for. */
  readonly times: readonly { readonly at: number; readonly records: number }[];
}

const EMPTY: Figures = { total: 0, shares: new Map(), times: [] };

/**
 * What the planner cannot know: PostgreSQL takes every place to hold the same share of the records. From the statistics that it gathers
 * of everything else, this tells whether to look the place up first, or to walk through the records in their order.
 */
export class RecordStatistics {
  readonly #pool: pg.Pool;
  readonly #onError: (error: Error) => void;
  #figures: Figures = EMPTY;
  #readAt = 0;

  constructor(pool: pg.Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
  }

  /** Whether all matches of a search are better found first and sorted then. */
  prefersCollecting(request: SearchRequest): boolean {
    this.#refresh();
    const { place, limit } = request;
    if (place === undefined) {
      return false;
    }
    const inScope =
      this.#figures.total * this.#shareOfCollections(request.collections) * this.#shareOfTime(request.time);
    // Scenes reach beyond their middle: a place touches more of them than lie in it.
    const matches = inScope * Math.min(1, (place.area + 3 * Math.sqrt(place.area) + 2) / EARTH) * 2;
    if (matches <= MAX_COLLECTED) {
      return true;
    }
    const walked = (limit * inScope) / Math.max(matches, 1);
    return matches * COLLECT_COST < walked;
  }

  #shareOfCollections(collections: readonly string[] | undefined): number {
    const { shares, total } = this.#figures;
    return collections === undefined
      ? 1
      : Math.min(
          1,
          collections.reduce((sum, id) => sum + (shares.get(id) ?? 1 / Math.max(100, Math.sqrt(total))), 0),
        );
  }

  #shareOfTime(time: SearchRequest["time"]): number {
    const { times } = this.#figures;
    if (time === undefined || times.length < 2) {
      return 1;
    }
    const start = time.start === undefined ? -Infinity : Date.parse(time.start);
    const end = time.end === undefined ? Infinity : Date.parse(time.end);
    let [inside, all, most] = [0, 0, 0];
    for (const { at, records } of times) {
      all += records;
      most = Math.max(most, records);
      inside += at >= start && at <= end ? records : 0;
    }
    return all === 0 ? 1 : Math.min(1, (inside + most) / all);
  }

  #refresh(): void {
    const now = Date.now();
    if (now - this.#readAt < TTL_MS) {
      return;
    }
    this.#readAt = now;
    readFigures(this.#pool).then((figures) => {
      this.#figures = figures;
    }, this.#onError);
  }
}

async function readFigures(pool: pg.Pool): Promise<Figures> {
  const { rows: parts } = await pool.query<{ name: string; rows: number }>(
    `select c.relname as name, greatest(c.reltuples, 0)::float8 as rows
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'record'::regclass`,
  );
  const total = parts.reduce((sum, { rows }) => sum + rows, 0);
  const { rows: shares } = await pool.query<{ name: string; id: string; share: number }>(
    `select s.tablename as name, c.id, f.share::float8
     from pg_stats s,
       unnest(s.most_common_vals::text::int[], s.most_common_freqs) as f(key, share) join collection c on c.key = f.key
     where s.schemaname = current_schema() and s.tablename = any($1) and s.attname = 'collection'`,
    [parts.map(({ name }) => name)],
  );
  const { rows: bounds } = await pool.query<{ name: string; times: readonly string[] }>(
    `select s.tablename as name, array(select to_char(x at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
       from unnest(s.histogram_bounds::text::timestamptz[]) x where isfinite(x)) as times
     from pg_stats s where s.schemaname = current_schema() and s.tablename = any($1) and s.attname = 'at'`,
    [parts.map(({ name }) => name)],
  );
  const sizes = new Map(parts.map(({ name, rows }) => [name, rows]));
  const byId = new Map<string, number>();
  for (const { name, id, share } of shares) {
    byId.set(id, (byId.get(id) ?? 0) + (total === 0 ? 0 : (share * (sizes.get(name) ?? 0)) / total));
  }
  return {
    total,
    shares: byId,
    times: bounds.flatMap(({ name, times }) =>
      times.map((time) => ({ at: Date.parse(time), records: (sizes.get(name) ?? 0) / times.length })),
    ),
  };
}
