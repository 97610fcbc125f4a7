import type { Reader } from "../access/reader.ts";
import type { Interval } from "../model/instant.ts";
import type { RecordKind } from "../model/record.ts";
import type { Expression } from "./expression.ts";
import type { SearchedPlace } from "./places.ts";

/** What every interface of the catalogue asks the store for. */
export interface SearchRequest {
  readonly reader: Reader;
  readonly kinds: readonly RecordKind[];
  /** Ids of collections; all that the reader may see when left out. Others are as if they did not exist. */
  readonly collections?: readonly string[];
  readonly ids?: readonly string[];
  readonly place?: SearchedPlace;
  readonly time?: Interval;
  /** OGC API: a record without place matches every place, one without time every time. */
  readonly matchesWithout?: boolean;
  readonly filter?: Expression;
  /** The catalogue's own order, newest first, when left out. */
  readonly sort?: readonly SortKey[];
  readonly limit: number;
  /** Where the last page ended, or began for the page before it. */
  readonly after?: PageToken;
  /** Records to leave out before the first, for clients that count pages; `after` is better. */
  readonly offset?: number;
  /** Up to how many matches are counted; 0 for none. */
  readonly countUpTo: number;
  /** Beyond that an estimate is wanted, not only that there are more. */
  readonly estimatesBeyond?: boolean;
  /** Checks names of properties that filters and sorting use. */
  readonly checkProperty?: (name: string) => void;
}

export interface SortKey {
  readonly property: string;
  readonly direction: "asc" | "desc";
}

/**
 * What a record has of each sort key, and its number; what was counted goes along. It is the last record of a page for the page after it,
 * the first one for the page before.
 */
export interface PageToken {
  /** The page before the record, rather than the one after it. */
  readonly isBackward?: boolean;
  readonly values: readonly (string | number | boolean | null)[];
  readonly n: string;
  readonly matched?: Matched;
}

/** How many records match; a lower bound where counting ended at the cap, or an estimate of what is beyond it where one was wanted. */
export interface Matched {
  readonly count: number;
  readonly isLowerBound: boolean;
}
