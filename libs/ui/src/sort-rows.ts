export type SortKey = string | number;

export interface Sort {
  readonly column: string;
  readonly direction: "ascending" | "descending";
}

/** The order after a click on a header: ascending first, then the other way round. */
export function toggleSort(sort: Sort | undefined, column: string): Sort {
  return { column, direction: sort?.column === column && sort.direction === "ascending" ? "descending" : "ascending" };
}

/** Sorted rows, keys computed once each; names as people sort them (`a2` before `a10`). Rows of one key keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  by: (row: Row) => SortKey,
  direction: Sort["direction"],
): readonly Row[] {
  const sign = direction === "ascending" ? 1 : -1;
  const names = new Intl.Collator(undefined, { numeric: true });
  return rows
    .map((row) => ({ row, key: by(row) }))
    .sort((a, b) => sign * compare(a.key, b.key, names))
    .map(({ row }) => row);
}

function compare(a: SortKey, b: SortKey, names: Intl.Collator): number {
  return typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
}
