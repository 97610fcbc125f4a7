import type pg from "pg";

import { isHeld, writeOne } from "./held-collections.ts";
import { COLUMNS, OWN_COLUMNS, type PreparedRecord, isCopyLine } from "./record-columns.ts";
import { WriteConflict, type Written, insertOne } from "./write-records.ts";

/** Groups that are written at once: while one waits for the disk, another is computed. */
const MAX_GROUPS = 2;
/** Rows of a group. Each size is a statement of its own, planned once per connection. */
const SIZES = [16, 8, 4, 2] as const;
/** Larger rows are written alone: a group is no longer than its slowest row. */
const MAX_ROW_LENGTH = 64 * 1024;
/** SQLSTATE of errors after which PostgreSQL has certainly taken everything back, and a row may be to blame. */
const ROLLED_BACK = /^(?:21|22|23|40|54|55P03)/;

interface Waiting {
  readonly record: PreparedRecord;
  readonly collection: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Inserts single records in groups: what arrives while others are being written shares one statement, and one commit, with what waits beside
 * it. Each caller hears of its own record, after the commit. A record that cannot be written fails none of its neighbours.
 */
export class GroupInserts {
  readonly #pool: pg.Pool;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Inserts one item. @throws {WriteConflict} */
  insert(record: PreparedRecord, collection: number): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, collection, resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    while (this.#running < MAX_GROUPS && this.#waiting.length > 0) {
      this.#running += 1;
      void this.#write(this.#take()).finally(() => {
        this.#running -= 1;
        this.#start();
      });
    }
  }

  /** The next group, of a size that there is a statement for. An id occurs once; a twin waits, and is then told that it exists. */
  #take(): readonly Waiting[] {
    const [first, ...rest] = this.#waiting as [Waiting, ...Waiting[]];
    const group = [first];
    if (isSmall(first)) {
      const keys = new Set([keyOf(first)]);
      for (const entry of rest) {
        if (group.length === SIZES[0]) {
          break;
        }
        if (isSmall(entry) && !keys.has(keyOf(entry))) {
          keys.add(keyOf(entry));
          group.push(entry);
        }
      }
    }
    group.length = SIZES.find((size) => size <= group.length) ?? 1;
    const taken = new Set(group);
    this.#waiting = this.#waiting.filter((entry) => !taken.has(entry));
    return group;
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const [only] = group;
    if (only !== undefined && group.length === 1) {
      const isWaitedFor = !isHeld(this.#pool, only.collection);
      const written = this.#writeAlone(only);
      // Where something holds the collection, the next group has nothing to do with it.
      await (isWaitedFor ? written : undefined);
      return;
    }
    try {
      const outcomes = await insertGroup(this.#pool, group);
      const busy: Waiting[] = [];
      for (const [index, entry] of group.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) {
          busy.push(entry);
        } else if (outcome instanceof WriteConflict) {
          entry.reject(outcome);
        } else {
          entry.resolve(outcome);
        }
      }
      // Not waited for: the next group has nothing to do with a load.
      busy.forEach((entry) => void this.#writeAlone(entry));
    } catch (error) {
      if (!ROLLED_BACK.test((error as { code?: string }).code ?? "")) {
        // Whether it was committed is not known: nothing may be written again, and nothing said to be there.
        group.forEach(({ reject }) => reject(error));
        return;
      }
      await Promise.all(group.map((entry) => this.#writeAlone(entry)));
    }
  }

  async #writeAlone({ record, collection, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await writeOne(this.#pool, collection, () => insertOne(this.#pool, record, collection)));
    } catch (error) {
      reject(error);
    }
  }
}

const isSmall = ({ record: { cells } }: Waiting): boolean =>
  !isCopyLine(cells) &&
  cells.reduce((sum: number, cell) => sum + (typeof cell === "string" ? cell.length : 0), 0) <= MAX_ROW_LENGTH;

const keyOf = ({ record, collection }: Waiting): string => `${collection} ${record.id}`;

/** PostgreSQL's types of the record's own columns. */
const TYPES: Readonly<Partial<Record<(typeof OWN_COLUMNS)[number], string>>> = {
  kind: '"char"',
  at: "timestamptz",
  span: "tstzrange",
  bbox: "box",
  shapes: "polygon[]",
  holes: "polygon[]",
  low: "real",
  high: "real",
  cloud: "real",
  words: "tsvector",
  properties: "jsonb",
  links_from: "int",
  links_to: "int",
  source: "bytea",
};

/** The first parameter is the time; each row has its collection and its own columns. */
const ROW_WIDTH = OWN_COLUMNS.length + 1;

const STATEMENTS: ReadonlyMap<number, string> = new Map(SIZES.map((size) => [size, compileInsert(size)]));

/**
 * Keys are locked in the order of the ids, as everywhere. A load of a collection locks them batch by batch: where one is under way, the
 * group leaves the collection out rather than wait for keys that the load may hold, with keys that it may want.
 */
function compileInsert(size: number): string {
  const types = ["int", ...OWN_COLUMNS.map((column) => TYPES[column] ?? "text")];
  const rows = Array.from({ length: size }, (_, row) => {
    const cells = types.map((type, index) => `$${row * ROW_WIDTH + index + 2}::${type}`);
    return `(${row}, ${cells.join(", ")})`;
  });
  return `/* prepared: insert-group-${size} */
  with item (i, collection, ${OWN_COLUMNS.join(", ")}) as (values ${rows.join(", ")}),
  locked as materialized (
    select key, id, workspace, is_public from collection where key in (select collection from item) order by key for key share
  ),
  owner as materialized (
    select *, pg_try_advisory_xact_lock_shared(hashtext('catalogue load'), key) as is_free from locked
  ),
  key as (
    insert into record_key (id, collection, is_collection, part)
    select item.id, item.collection, false, 0 from item join owner on owner.key = item.collection and owner.is_free
    order by item.id collate "C", item.collection
    on conflict do nothing returning id, collection, part, n
  ),
  stored as (
    insert into record (${COLUMNS.join(", ")})
    select key.part, key.n, 1, key.collection, $1::timestamptz, $1::timestamptz, ${OWN_COLUMNS.map((column) => `item.${column}`).join(", ")}
    from key join item on item.id = key.id and item.collection = key.collection
  ),
  noted as (
    insert into change (operation, collection, workspace, is_public, is_collection, ids)
    select 'c', owner.id, owner.workspace, owner.is_public, false, array_agg(key.id order by key.n)
    from key join owner on owner.key = key.collection group by owner.id, owner.workspace, owner.is_public
  )
  select item.i, owner.is_free, key.n from item left join owner on owner.key = item.collection
    left join key on key.id = item.id and key.collection = item.collection`;
}

/** What became of each record of a group; `undefined` for those whose collection is being loaded. */
async function insertGroup(
  pool: pg.Pool,
  group: readonly Waiting[],
): Promise<readonly (Written | WriteConflict | undefined)[]> {
  const at = new Date();
  const { rows } = await pool.query<{ i: number; is_free: boolean | null; n: string | null }>(
    STATEMENTS.get(group.length) as string,
    [
      at.toISOString(),
      ...group.flatMap(({ record, collection }) => [collection, ...(record.cells as readonly unknown[])]),
    ],
  );
  const outcomes: (Written | WriteConflict | undefined)[] = Array.from({ length: group.length });
  for (const { i, is_free: isFree, n } of rows) {
    const { record } = group[i] as Waiting;
    if (isFree === null) {
      outcomes[i] = new WriteConflict("no-collection", []);
    } else if (isFree) {
      outcomes[i] = n === null ? new WriteConflict("exists", [record.id]) : { n, version: 1, isNew: true, at };
    }
  }
  return outcomes;
}
