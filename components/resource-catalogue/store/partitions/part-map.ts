import type pg from "pg";

import type { Reader } from "../../access/reader.ts";
import type { SearchRequest } from "../../query/search-request.ts";

/** A partition of records of one collection. Times are milliseconds; infinite where open. */
export interface Part {
  readonly number: number;
  /** Id of the collection; null: it is gone, and the part with it as soon as somebody comes to it. */
  readonly collection: string | null;
  readonly key: number | null;
  /** Of the collection: who may read it. */
  readonly workspace: string | null;
  readonly isPublic: boolean | null;
  /** `at` of its records: fromAt <= at < toAt. */
  readonly fromAt: number;
  readonly toAt: number;
  /** What all spans of its records lie within. */
  readonly starts: number;
  readonly ends: number;
  /** Nothing new goes there. */
  readonly isRetired: boolean;
}

/** When a record is, in milliseconds. */
export interface RecordTime {
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

/** Where a new record goes by its time. */
export type Route = (time: RecordTime | undefined) => number;

/** What parts are chosen by. */
type PartRequest = Pick<SearchRequest, "reader" | "kinds" | "collections" | "time">;

/** Parts that a search looks into, and the version of the division that makes this right. */
export interface PartSelection {
  readonly numbers: readonly number[];
  readonly version: string;
}

/** An interval of `at`: from <= at < to, in milliseconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Everything there is, and was ever. */
export const ALL_TIME: Window = { from: -Infinity, to: Infinity };

/** The part that takes every record, and is always searched. */
export const COMMON_PART = 0;
/** SQLSTATE of `check_part_version`. */
const CHANGED = "SW001";
const TTL_MS = 30_000;

/** Whether a search failed because the parts are others by now; it succeeds once they have been read again. */
export const isPartsChanged = (error: unknown): boolean => (error as { code?: string }).code === CHANGED;

/** Which parts there are, as this process knows it. Searches that rely on it are checked by PostgreSQL; writers lock the parts they use. */
export class PartMap {
  readonly #pool: pg.Pool;
  readonly #onError: (error: Error) => void;
  #parts: readonly Part[] = [];
  #version = "0";
  #readAt = 0;

  constructor(pool: pg.Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
  }

  /** Reads the parts again. */
  async refresh(): Promise<void> {
    this.#readAt = Date.now();
    const { parts, version } = await readParts(this.#pool);
    if (BigInt(version) >= BigInt(this.#version)) {
      this.#parts = parts;
      this.#version = version;
    }
  }

  /**
   * The parts that a search must look into; undefined: all of them, whichever these are. Those that hold nothing for it are left out rather than
   * looked through: every record of a part is of the same collection.
   */
  select(request: PartRequest, { from, to }: Window = ALL_TIME): PartSelection | undefined {
    this.#refreshOld();
    if (this.#parts.length === 0) {
      return undefined;
    }
    const needed = this.#findNeeded(request).filter(({ fromAt, toAt }) => fromAt < to && toAt > from);
    return needed.length === this.#parts.length
      ? undefined
      : { numbers: [COMMON_PART, ...needed.map(({ number }) => number)], version: this.#version };
  }

  /**
   * Windows that together are all time, the newest first, for a search in the order of time: it ends where enough is found. Each has twice as many
   * parts as the one before it, so that they are few.
   */
  windowsOf(request: PartRequest): readonly Window[] {
    const starts = [...new Set(this.#findNeeded(request).map(({ fromAt }) => fromAt))].filter(Number.isFinite);
    starts.sort((a, b) => b - a);
    const windows: Window[] = [];
    let to = Infinity;
    // The first of them is open to the past as well.
    for (let index = 0, width = 1; index < starts.length - 1; index += width, width *= 2) {
      const from = starts[Math.min(index + width - 1, starts.length - 2)] as number;
      windows.push({ from, to });
      to = from;
    }
    return [...windows, { from: -Infinity, to }];
  }

  #findNeeded({ reader, kinds, collections, time }: PartRequest): readonly Part[] {
    const start = time?.start === undefined ? -Infinity : Date.parse(time.start);
    // What is less than a millisecond is cut off.
    const end = time?.end === undefined ? Infinity : Date.parse(time.end) + 1;
    // What collections say of themselves is in the common part.
    return kinds.every((kind) => kind === "c")
      ? []
      : this.#parts.filter(
          (part) =>
            part.collection !== null &&
            (collections === undefined || collections.includes(part.collection)) &&
            mayRead(reader, part) &&
            // Written so that a time which JavaScript cannot read leaves out nothing.
            !(part.ends < start || part.starts > end),
        );
  }

  /** Makes a function that says where new records of a collection go. */
  routeOf(collection: number): Route {
    this.#refreshOld();
    const parts = this.#parts.filter(({ key, isRetired }) => key === collection && !isRetired);
    return parts.length === 0
      ? () => COMMON_PART
      : (time) => (time === undefined ? undefined : parts.find((part) => fits(part, time)))?.number ?? COMMON_PART;
  }

  #refreshOld(): void {
    if (Date.now() - this.#readAt >= TTL_MS) {
      this.refresh().catch(this.#onError);
    }
  }
}

/** As `toReadCondition` in SQL. */
const mayRead = ({ isOperator, isAnonymous, workspaces, only }: Reader, { workspace, isPublic }: Part): boolean =>
  (only === undefined || workspace === only) &&
  ((isOperator && (isAnonymous !== true || workspace === null)) ||
    isPublic === true ||
    (workspace !== null && workspaces.has(workspace)));

/** As where records are moved to, for times that have lost what is less than a millisecond; a time that cannot be read fits nowhere. */
const fits = ({ fromAt, toAt, starts, ends }: Part, { at, start, end }: RecordTime): boolean =>
  at >= fromAt && at < toAt && start >= starts && end < ends;

async function readParts(pool: pg.Pool): Promise<{ readonly parts: readonly Part[]; readonly version: string }> {
  const milliseconds = (column: string): string => `floor(date_part('epoch', p.${column}) * 1000)`;
  // One statement: parts and version of the same moment.
  const { rows } = await pool.query<Omit<Part, "number"> & { version: string; number: number | null }>(
    `select v.version, p.number, c.id as collection, c.workspace, c.is_public as "isPublic", p.collection as key, ${milliseconds("from_at")} as "fromAt",
       ${milliseconds("to_at")} as "toAt", ${milliseconds("starts")} as starts, ${milliseconds("ends")} as ends, p.is_retired as "isRetired"
     from part_version v left join part p on p.number <> ${COMMON_PART} left join collection c on c.key = p.collection order by p.from_at`,
  );
  return {
    version: rows[0]?.version ?? "0",
    parts: rows.flatMap(({ number, ...part }) => (number === null ? [] : [{ ...part, number }])),
  };
}
