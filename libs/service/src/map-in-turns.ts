import { setImmediate as nextTurn } from "node:timers/promises";

/** How long one turn of the event loop takes, about. */
const TURN_MS = 5;

/** Maps many values like `Array.map`; others have their turn whenever some milliseconds are over. */
export async function mapInTurns<Value, Result>(
  values: Iterable<Value>,
  map: (value: Value) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let started = performance.now();
  for (const value of values) {
    results.push(map(value));
    if (performance.now() - started > TURN_MS) {
      await nextTurn();
      started = performance.now();
    }
  }
  return results;
}
