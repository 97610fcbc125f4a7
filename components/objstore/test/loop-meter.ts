import type { TestContext } from "node:test";

import { IndexDatabase } from "../store/index/index-database.ts";

/** What queries and rows cost on a slow machine, in milliseconds. */
const QUERY_MS = 0.01;
const ROW_MS = 0.003;

export interface LoopMeter {
  /** Longest that the index worked in one turn of the event loop, in milliseconds of the meter's clock. */
  readonly longest: () => number;
  /** Every statement that was run. */
  readonly statements: ReadonlySet<string>;
  /** Rows that queries gave. */
  readonly rows: () => number;
  readonly stop: () => void;
}

/**
 * Measures by counting, so that it comes out the same on every machine, how long queries hold the event loop: each advances a clock by
 * what it costs, and the product's own steps end by that clock.
 */
export function meterLoop(t: TestContext): LoopMeter {
  let clock = 0;
  let turnStarted = 0;
  let longest = 0;
  let rows = 0;
  let isOver = false;
  const statements = new Set<string>();
  t.mock.method(performance, "now", () => clock);
  const count = (sql: string, found: number) => {
    statements.add(sql);
    rows += found;
    clock += QUERY_MS + found * ROW_MS;
    longest = Math.max(longest, clock - turnStarted);
  };
  // oxlint-disable-next-line typescript/unbound-method -- each is called on the index that it was called on
  const { get, all, run } = IndexDatabase.prototype;
  t.mock.method(IndexDatabase.prototype, "get", function (this: IndexDatabase, ...values: Parameters<typeof get>) {
    const row = get.apply(this, values);
    count(values[0], row === undefined ? 0 : 1);
    return row;
  });
  t.mock.method(IndexDatabase.prototype, "all", function (this: IndexDatabase, ...values: Parameters<typeof all>) {
    const found = all.apply(this, values);
    count(values[0], found.length);
    return found;
  });
  t.mock.method(IndexDatabase.prototype, "run", function (this: IndexDatabase, ...values: Parameters<typeof run>) {
    const result = run.apply(this, values);
    count(values[0], result.changes);
    return result;
  });
  const turn = () => {
    turnStarted = clock;
    if (!isOver) {
      setImmediate(turn);
    }
  };
  turn();
  const stop = () => {
    isOver = true;
    t.mock.restoreAll();
  };
  t.after(stop);
  return {
    longest: () => longest,
    statements,
    rows: () => rows,
    stop,
  };
}
