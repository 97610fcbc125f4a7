import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";

export type Row = Record<string, SQLOutputValue>;

/** Tables of the index and the columns that put their rows in order. */
const TABLES: readonly (readonly [name: string, key: readonly string[]])[] = [
  ["meta", ["name"]],
  ["buckets", ["id"]],
  ["users", ["name"]],
  ["roles", ["name"]],
  ["access_keys", ["id"]],
  ["files", ["id"]],
  ["contents", ["id"]],
  ["versions", ["bucket", "key", "seq"]],
  ["uploads", ["id"]],
  ["parts", ["upload", "number"]],
];

const PAGE = 200;

/**
 * Gives every row of a damaged index that can still be read: from the beginning of each table up to the first page that cannot, and
 * from the end back to it. `onLost` hears of tables that are not whole.
 */
export function* salvage(path: string, onLost: (table: string) => void): Generator<{ table: string; row: Row }> {
  let index: DatabaseSync;
  try {
    index = new DatabaseSync(path, { readOnly: true });
    index.prepare("select count(*) from sqlite_schema").get();
  } catch {
    onLost("every table");
    return;
  }
  try {
    for (const [table, key] of TABLES) {
      yield* salvageTable(index, table, key, () => onLost(table));
    }
  } finally {
    index.close();
  }
}

function* salvageTable(
  index: DatabaseSync,
  table: string,
  key: readonly string[],
  onLost: () => void,
): Generator<{ table: string; row: Row }> {
  let reached: SQLInputValue[] | undefined;
  for (const row of readUntilDamage(index, table, key, true)) {
    if (row === "damage") {
      onLost();
      break;
    }
    reached = key.map((column) => row[column] as SQLInputValue);
    yield { table, row };
  }
  let damaged = false;
  for (const row of readUntilDamage(index, table, key, false)) {
    if (row === "damage") {
      damaged = true;
      break;
    }
    // Seen from the beginning already: from here on there is nothing new.
    if (
      reached !== undefined &&
      compareRows(
        key.map((column) => row[column] as SQLInputValue),
        reached,
      ) <= 0
    ) {
      break;
    }
    yield { table, row };
  }
  if (damaged && reached === undefined) {
    onLost();
  }
}

function* readUntilDamage(
  index: DatabaseSync,
  table: string,
  key: readonly string[],
  forward: boolean,
): Generator<Row | "damage"> {
  const columns = key.join(", ");
  const order = key.map((column) => `${column} ${forward ? "asc" : "desc"}`).join(", ");
  const marks = key.map(() => "?").join(", ");
  let after: SQLInputValue[] | undefined;
  // Pages of rows, and rows one by one where a page cannot be read.
  for (let count = PAGE; ;) {
    let rows: Row[];
    try {
      const where = after === undefined ? "" : `where (${columns}) ${forward ? ">" : "<"} (${marks})`;
      rows = index.prepare(`select * from ${table} ${where} order by ${order} limit ${count}`).all(...(after ?? []));
    } catch {
      if (count > 1) {
        count = 1;
        continue;
      }
      yield "damage";
      return;
    }
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) {
      return;
    }
    after = key.map((column) => last[column] as SQLInputValue);
  }
}

function compareRows(left: readonly SQLInputValue[], right: readonly SQLInputValue[]): number {
  for (const [at, value] of left.entries()) {
    const other = right[at];
    const order =
      typeof value === "string" && typeof other === "string"
        ? Buffer.compare(Buffer.from(value), Buffer.from(other))
        : Number(value) - Number(other);
    if (order !== 0) {
      return order;
    }
  }
  return 0;
}
