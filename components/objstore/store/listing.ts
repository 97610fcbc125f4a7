import type { IndexDatabase } from "./index/index-database.ts";
import { afterPrefix, compareKeys } from "./key-order.ts";
import type { Version } from "./rows.ts";
import { Turn } from "./turns.ts";

/** Columns that a listing shows; the rest of a row stays on its page. */
export type ListedVersion = Pick<
  Version,
  "key" | "seq" | "version" | "marker" | "size" | "etag" | "modified" | "owner" | "checksum"
> & { readonly storage_class: string };

export interface ListQuery {
  readonly bucket: number;
  readonly prefix: string;
  readonly delimiter: string;
  /** Only what comes after this key or common prefix. */
  readonly after: string;
  readonly limit: number;
}

export interface VersionListQuery extends ListQuery {
  /** Within the key `after`, go on behind this version. */
  readonly afterVersion?: string | undefined;
}

export interface Listing<Entry> {
  readonly entries: readonly Entry[];
  readonly prefixes: readonly string[];
  readonly truncated: boolean;
  /** Last key or common prefix of this page. */
  readonly last: string;
}

/** Few objects have a class other than STANDARD: only the headers that name one are parsed. */
const STORAGE_CLASS = `case when instr(headers, '"x-amz-storage-class"') > 0
  then coalesce(json_extract(headers, '$."x-amz-storage-class"'), 'STANDARD') else 'STANDARD' end as storage_class`;
const COLUMNS = `key, seq, version, marker, size, etag, modified, owner, checksum, ${STORAGE_CLASS}`;

/** Newest versions that are no delete markers, folded by the delimiter (ListObjects). */
export async function listObjects(index: IndexDatabase, query: ListQuery): Promise<Listing<ListedVersion>> {
  const page = new Page<ListedVersion>(query);
  let key: string | undefined;
  await walk(index, query, undefined, (row) => {
    if (row.key === key) {
      return "skip-key";
    }
    key = row.key;
    return row.marker === 1 ? "next" : page.add(row.key, row);
  });
  return page.result();
}

/** All versions and delete markers (ListObjectVersions); `isLatest` tells the newest of each key. */
export async function listVersions(
  index: IndexDatabase,
  query: VersionListQuery,
): Promise<Listing<ListedVersion & { readonly isLatest: boolean }>> {
  const page = new Page<ListedVersion & { readonly isLatest: boolean }>(query);
  const { bucket, after, afterVersion } = query;
  const marker =
    afterVersion === undefined
      ? undefined
      : index.get<{ seq: number }>(
          afterVersion === "null"
            ? `select seq from (select seq, version from versions where bucket = ?1 and key = ?2 order by seq desc limit 1)
                 where version = 'null' and ?3 = 'null'
               union all select seq from versions indexed by versions_buried where bucket = ?1 and key = ?2 and buried = 1`
            : "select seq from versions indexed by versions_id where bucket = ?1 and key = ?2 and version = ?3 and version <> 'null'",
          bucket,
          after,
          afterVersion,
        )?.seq;
  // Behind a version of the key `after` only older ones of it follow.
  let key = marker === undefined ? undefined : after;
  await walk(index, query, marker, (row) => {
    const isLatest = row.key !== key;
    key = row.key;
    return page.add(row.key, { ...row, isLatest });
  });
  return page.result();
}

type Step = "next" | "skip-key" | "stop" | { readonly skipPrefix: string };

/** Collects one page: entries and common prefixes together count towards the limit. */
export class Page<Entry> {
  readonly #query: ListQuery;
  readonly #entries: Entry[] = [];
  readonly #prefixes: string[] = [];
  #truncated = false;
  #last = "";

  constructor(query: ListQuery) {
    this.#query = query;
  }

  add(key: string, entry: Entry): Step {
    const { prefix, delimiter, after, limit } = this.#query;
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const common = end < 0 ? undefined : key.slice(0, end + delimiter.length);
    if (common !== undefined && common === after) {
      return { skipPrefix: common };
    }
    if (this.#entries.length + this.#prefixes.length >= limit) {
      this.#truncated = limit > 0;
      return "stop";
    }
    this.#last = common ?? key;
    if (common === undefined) {
      this.#entries.push(entry);
      return "next";
    }
    this.#prefixes.push(common);
    return { skipPrefix: common };
  }

  result(): Listing<Entry> {
    return { entries: this.#entries, prefixes: this.#prefixes, truncated: this.#truncated, last: this.#last };
  }
}

/**
 * Visits rows in key order, newest version first, from behind `after` (and of that key behind the version `afterSeq`). Rows come in
 * batches that grow while they are used up in order and shrink to a few after a jump, so that a folder of a million keys costs one
 * look and a flat page one query. Where much has to be passed over, others have their turn meanwhile.
 */
async function walk(
  index: IndexDatabase,
  query: ListQuery,
  startSeq: number | undefined,
  visit: (row: ListedVersion) => Step,
): Promise<void> {
  const { bucket, prefix, after } = query;
  const upper = prefix === "" ? undefined : afterPrefix(prefix);
  const turn = new Turn();
  let bound = compareKeys(after, prefix) >= 0 ? after : prefix;
  let inclusive = bound !== after || after === "";
  let afterSeq = startSeq;
  let count = Math.min(query.limit + 1, MAX_ROWS);
  for (;;) {
    const rows = fetchRows(index, { bucket, bound, inclusive, afterSeq, upper, count });
    let jumped = false;
    let passed = 0;
    for (const row of rows) {
      const step = visit(row);
      if (step === "stop") {
        return;
      }
      bound = row.key;
      inclusive = false;
      // Older versions of a key that is done with are passed over: those of this batch one by one, the rest with the next query.
      afterSeq = step === "skip-key" ? undefined : row.seq;
      passed += Number(step === "skip-key");
      if (typeof step === "object") {
        const beyond = afterPrefix(step.skipPrefix);
        if (beyond === undefined) {
          return;
        }
        bound = beyond;
        inclusive = true;
        afterSeq = undefined;
        jumped = true;
        break;
      }
    }
    if (!jumped && rows.length < count) {
      return;
    }
    await turn.next();
    count = jumped ? 2 : passed * 2 > rows.length ? Math.max(2, count >> 2) : Math.min(count * 4, MAX_ROWS);
  }
}

/** Rows that one query gives: a millisecond. */
const MAX_ROWS = 251;

interface Fetch {
  readonly bucket: number;
  readonly bound: string;
  readonly inclusive: boolean;
  /** Also the versions of `bound` older than this one. */
  readonly afterSeq: number | undefined;
  readonly upper: string | undefined;
  readonly count: number;
}

function fetchRows(index: IndexDatabase, { bucket, bound, inclusive, afterSeq, upper, count }: Fetch): ListedVersion[] {
  const older =
    afterSeq === undefined
      ? []
      : index.all<ListedVersion>(
          `select ${COLUMNS} from versions where bucket = ? and key = ? and seq < ? order by seq desc limit ?`,
          bucket,
          bound,
          afterSeq,
          count,
        );
  if (older.length === count) {
    return older;
  }
  const select = `select ${COLUMNS} from versions where bucket = ? and key ${inclusive ? ">=" : ">"} ?`;
  const order = "order by key, seq desc limit ?";
  const left = count - older.length;
  const rest =
    upper === undefined
      ? index.all<ListedVersion>(`${select} ${order}`, bucket, bound, left)
      : index.all<ListedVersion>(`${select} and key < ? ${order}`, bucket, bound, upper, left);
  return older.length === 0 ? rest : [...older, ...rest];
}
