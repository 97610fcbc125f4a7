/** Where statements run: a pool or a connection of `pg`. */
export interface Queryable {
  readonly query: <Row extends object>(
    text: string,
    values?: unknown[],
  ) => Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
}

interface QueueDefinition {
  readonly table: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  /** SQL condition of rows that are to be worked on once they are due; `q` is the row. Its own parameters begin with $2. */
  readonly isOpen: string;
  /** Column that says when a row is due; `next_at` when left out. */
  readonly dueAt?: string;
  /** Column that says until when a row is a worker's. Without one a claim moves `dueAt`, and a worker that died makes it due then. */
  readonly leaseUntil?: string;
  readonly leaseSeconds: number;
  /** SQL assignments of a claim, such as `attempts = q.attempts + 1`. Parameters follow those of `isOpen`. */
  readonly onClaim?: string;
  /** What comes first among rows that are due; `dueAt` when left out. */
  readonly order?: string;
  /** Tables that a claimed row is completed from, as `webhook w`, and on which condition. */
  readonly join?: { readonly from: string; readonly on: string };
  /** What a claim gives; the columns of the row when left out. */
  readonly returning?: string;
  /** Name under which a connection keeps the plan of a claim that is frequent and long. */
  readonly prepared?: string;
}

/** A row that is this worker's until the lease runs out. */
export interface Claim<Row> {
  readonly row: Row;
  readonly lease: Lease;
}

export interface Lease {
  /** Extends it. False when the row is another worker's by now, or was ended. */
  readonly renew: () => Promise<boolean>;
  /**
   * Writes what came of the work and ends the lease; false, and nothing is written, when the row is another worker's by now.
   * @param set SQL assignments with parameters from $1 on
   */
  readonly end: (set: string, values?: readonly unknown[]) => Promise<boolean>;
}

export interface Queue<Row> {
  /** Takes rows that are due, at most `limit`; no two workers get the same one. `values` are the parameters of `isOpen` and `onClaim`. */
  readonly claim: (db: Queryable, limit: number, values?: readonly unknown[]) => Promise<readonly Claim<Row>[]>;
  /** Milliseconds until a row is due, below zero for one that is due already; undefined where there is none. */
  readonly untilDue: (db: Queryable, values?: readonly unknown[]) => Promise<number | undefined>;
}

/**
 * A table as a durable queue. A row that is due is claimed under a lease, which ends by itself when its worker dies. What came of it is written
 * under the condition that the lease is still the worker's: the end of a lease is its token, since no two leases of a row end at the
 * same microsecond.
 */
export function createQueue<Row extends object>(definition: QueueDefinition): Queue<Row> {
  const { table, key, isOpen, dueAt = "next_at", leaseSeconds, onClaim, join, prepared } = definition;
  const lease = definition.leaseUntil ?? dueAt;
  const isFree = definition.leaseUntil === undefined ? "" : `and (q.${lease} is null or q.${lease} < now())`;
  const columns = key.map((column) => `q.${column}`).join(", ");
  const leaseEnd = `now() + interval '${leaseSeconds} seconds'`;
  const claimText = `${prepared === undefined ? "" : `/* prepared: ${prepared} */ `}with due as (
      select ${columns} from ${table} q where ${isOpen} and q.${dueAt} <= now() ${isFree}
      order by ${definition.order ?? `q.${dueAt}`} limit $1 for update of q skip locked)
    update ${table} q set ${lease} = ${leaseEnd}${onClaim === undefined ? "" : `, ${onClaim}`}
    from due${join === undefined ? "" : `, ${join.from}`}
    where (${columns}) = (${key.map((column) => `due.${column}`).join(", ")})${join === undefined ? "" : ` and ${join.on}`}
    returning ${definition.returning ?? "q.*"}, q.${lease}::text as lease_token, array[${key.map((column) => `q.${column}::text`).join(", ")}] as lease_key`;
  // A lease that runs out makes its row due.
  const freeAt =
    definition.leaseUntil === undefined ? `q.${dueAt}` : `greatest(q.${dueAt}, coalesce(q.${lease}, q.${dueAt}))`;
  const untilText = `select (extract(epoch from min(${freeAt}) - now()) * 1000)::float8 as ms from ${table} q where ${shift(isOpen, -1)}`;

  return {
    claim: async (db, limit, values = []) => {
      const { rows } = await db.query<Row & Token>(claimText, [limit, ...values]);
      return rows.map(({ lease_token: token, lease_key: keys, ...row }) => ({
        row: row as unknown as Row,
        lease: createLease({ db, definition, lease, leaseEnd }, keys, token),
      }));
    },
    untilDue: async (db, values = []) => {
      const { rows } = await db.query<{ ms: number | null }>(untilText, [...values]);
      return rows[0]?.ms ?? undefined;
    },
  };
}

/** Carries out all that is due, one after another. @returns how many */
export async function drainQueue<Row extends object>(
  queue: Queue<Row>,
  db: Queryable,
  run: (claim: Claim<Row>) => Promise<void>,
): Promise<number> {
  for (let count = 0; ; count++) {
    const [claim] = await queue.claim(db, 1);
    if (claim === undefined) {
      return count;
    }
    await run(claim);
  }
}

interface Token {
  readonly lease_token: string;
  readonly lease_key: readonly string[];
}

interface LeaseOptions {
  readonly db: Queryable;
  readonly definition: QueueDefinition;
  /** Its column. */
  readonly lease: string;
  readonly leaseEnd: string;
}

function createLease(
  { db, definition: { table, key, leaseUntil }, lease, leaseEnd }: LeaseOptions,
  keys: readonly string[],
  firstToken: string,
): Lease {
  let token: string | undefined = firstToken;
  const isOurs = (from: number) =>
    [
      ...key.map((column, index) => `${column} = $${from + index}`),
      `${lease} = $${from + key.length}::timestamptz`,
    ].join(" and ");
  // One after another: a renewal that is under way changes the token.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  return {
    renew: () =>
      inTurn(async () => {
        if (token === undefined) {
          return false;
        }
        const { rows } = await db.query<{ token: string }>(
          `update ${table} set ${lease} = ${leaseEnd} where ${isOurs(1)} returning ${lease}::text as token`,
          [...keys, token],
        );
        token = rows[0]?.token;
        return token !== undefined;
      }),
    end: (set, values = []) =>
      inTurn(async () => {
        if (token === undefined) {
          return false;
        }
        const release = leaseUntil === undefined ? "" : `${lease} = null, `;
        const { rowCount } = await db.query(`update ${table} set ${release}${set} where ${isOurs(values.length + 1)}`, [
          ...values,
          ...keys,
          token,
        ]);
        token = undefined;
        return rowCount === 1;
      }),
  };
}

/** The same condition with parameters that are numbered anew. */
const shift = (condition: string, by: number): string =>
  condition.replaceAll(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`);
