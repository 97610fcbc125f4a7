/**
 * Runs a task for each value, `count` at a time. The first failure ends the others by the signal that tasks are given, and is
 * thrown when all have ended.
 */
export async function runParallel<T>(
  values: readonly T[],
  count: number,
  signal: AbortSignal,
  task: (value: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const both = AbortSignal.any([signal, failure.signal]);
  const queue = values.values();
  const work = async () => {
    for (const value of queue) {
      both.throwIfAborted();
      await task(value, both).catch((error: unknown) => {
        failure.abort(error);
        throw error;
      });
    }
  };
  await Promise.allSettled(Array.from({ length: Math.min(count, values.length) }, work));
  signal.throwIfAborted();
  failure.signal.throwIfAborted();
}
