import { createHash } from "node:crypto";

import type pg from "pg";

/** A line of the trail, as it was sealed. */
export interface SealedLine {
  readonly n: number;
  /** JSON. */
  readonly line: string;
  /** SHA-256 of the hash of the line before and of `line`, in hex. */
  readonly hash: string;
}

/** Where a trail ended when it was looked at. */
export interface TrailHead {
  readonly n: number;
  readonly hash: string;
}

/** The first thing that is wrong with a trail. */
export interface TrailDamage {
  readonly n: number;
  readonly problem: string;
}

const PAGE = 1000;

/** All lines in their order, as of the time of each page. */
export async function* readTrail(db: Pick<pg.Pool, "query">, after = 0): AsyncGenerator<SealedLine> {
  for (let last = after; ;) {
    const { rows } = await db.query<{ n: string; line: string; hash: string }>(
      "select n, line, encode(hash, 'hex') as hash from audit.entry where n > $1 order by n limit $2",
      [last, PAGE],
    );
    for (const { n, line, hash } of rows) {
      last = Number(n);
      yield { n: last, line, hash };
    }
    if (rows.length < PAGE) {
      return;
    }
  }
}

/**
 * Follows the chain from its first line to the head.
 * @param head what the database says is the last line
 * @param known a head that was seen before: lines after which all were taken away, head and all, are found by it
 */
export async function verifyTrail(
  lines: AsyncIterable<SealedLine>,
  head: TrailHead,
  known?: TrailHead,
): Promise<TrailDamage | undefined> {
  let n = 0;
  let hash = "";
  for await (const entry of lines) {
    if (entry.n !== n + 1) {
      return { n: n + 1, problem: `line ${n + 1} is missing` };
    }
    const expected = createHash("sha256").update(Buffer.from(hash, "hex")).update(entry.line).digest("hex");
    if (entry.hash !== expected) {
      return { n: entry.n, problem: `line ${entry.n} is not what was written, or a line before it is not` };
    }
    if (readNumber(entry.line) !== entry.n) {
      return { n: entry.n, problem: `line ${entry.n} stands in the place of another` };
    }
    ({ n, hash } = entry);
    if (known?.n === n && known.hash !== hash) {
      return { n, problem: `line ${n} was another one when the trail was verified last` };
    }
  }
  if (head.n !== n || head.hash !== hash) {
    return { n: n + 1, problem: `lines ${n + 1} to ${head.n} are missing` };
  }
  return known !== undefined && known.n > n
    ? { n: n + 1, problem: `lines ${n + 1} to ${known.n} were there when the trail was verified last, and are missing` }
    : undefined;
}

export async function readHead(db: Pick<pg.Pool, "query">): Promise<TrailHead> {
  const { rows } = await db.query<{ n: string; hash: string }>("select n, encode(hash, 'hex') as hash from audit.head");
  return { n: Number(rows[0]?.n ?? 0), hash: rows[0]?.hash ?? "" };
}

function readNumber(line: string): unknown {
  try {
    return (JSON.parse(line) as { n?: unknown } | null)?.n;
  } catch {
    return undefined;
  }
}
