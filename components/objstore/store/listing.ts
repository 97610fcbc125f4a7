import type { IndexDatabase } from "./index-database.ts";
import { afterPrefix, compareKeys } from "./key-order.ts";
import type { Version } from "./rows.ts";

/** Columns that a listing shows; the rest of a row stays on its page. */
export type ListedVersion = Pick<
  Version,
  "key" | "seq" | "version" | "marker" | "size" | "etag" | "modified" | "owner" | "checksum"
>;

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

const COLUMNS = "key, seq, version, marker, size, etag, modified, owner, checksum";

/** Newest versions that are no delete markers, folded by the delimiter (ListObjects). */
export function listObjects(index: IndexDatabase, query: ListQuery): Listing<ListedVersion> {
  const page = new Page<ListedVersion>(query);
  let key: string | undefined;
  walk(index, query, (row) => {
    if (row.key === key) {
      return "skip-key";
    }
    key = row.key;
    return row.marker === 1 ? "next" : page.add(row.key, row);
  });
  return page.result();
}

/** All versions and delete markers (ListObjectVersions); `isLatest` tells the newest of each key. */
export function listVersions(
  index: IndexDatabase,
  query: VersionListQuery,
): Listing<ListedVersion & { readonly isLatest: boolean }> {
  const page = new Page<ListedVersion & { readonly isLatest: boolean }>(query);
  const { bucket, after, afterVersion } = query;
  if (afterVersion !== undefined) {
    const rows = index.all<ListedVersion>(
      `select ${COLUMNS} from versions where bucket = ? and key = ? order by seq desc`,
      bucket,
      after,
    );
    const at = rows.findIndex(({ version }) => version === afterVersion);
    for (const row of at < 0 ? [] : rows.slice(at + 1)) {
      if (page.add(row.key, { ...row, isLatest: false }) === "stop") {
        return page.result();
      }
    }
  }
  let key: string | undefined;
  walk(index, query, (row) => {
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
 * Visits rows in key order, newest version first. Rows come in batches that grow while they are used up in order and shrink
 * to a few after a jump, so that a folder of a million keys costs one look and a flat page one query.
 */
function walk(index: IndexDatabase, query: ListQuery, visit: (row: ListedVersion) => Step): void {
  const { bucket, prefix, after } = query;
  const upper = prefix === "" ? undefined : afterPrefix(prefix);
  let bound = compareKeys(after, prefix) >= 0 ? after : prefix;
  let inclusive = bound !== after || after === "";
  let afterSeq: number | undefined;
  let count = Math.min(query.limit + 1, 1001);
  for (;;) {
    const rows = fetchRows(index, { bucket, bound, inclusive, afterSeq, upper, count });
    let jumped = false;
    for (const row of rows) {
      const step = visit(row);
      if (step === "stop") {
        return;
      }
      bound = row.key;
      inclusive = false;
      afterSeq = row.seq;
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
      if (step === "skip-key") {
        afterSeq = undefined;
        jumped = true;
        break;
      }
    }
    if (!jumped && rows.length < count) {
      return;
    }
    count = jumped ? 2 : Math.min(count * 4, 1001);
  }
}

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
