interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_BATCH = 200;

/**
 * Looks up the keys that come while a query is under way together in the next one, because a round trip to the database costs more than
 * a row. A query begins after all of its keys have come, so that each sees what was committed before.
 * @param load values of keys, in their order
 */
export function createBatch<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
): (key: Key) => Promise<Value> {
  let waiting: Waiting<Key, Value>[] = [];
  let isQuerying = false;
  const flush = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      try {
        const found = await load(batch.map(({ key }) => key));
        batch.forEach(({ resolve }, index) => resolve(found[index] as Value));
      } catch (error) {
        for (const { reject } of batch) {
          reject(error);
        }
      }
    }
    isQuerying = false;
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (!isQuerying) {
        isQuerying = true;
        // Whatever else comes in this turn of the event loop goes along.
        setImmediate(() => void flush());
      }
    });
}
