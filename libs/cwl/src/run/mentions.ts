/** Whether a text holds a word anywhere in a process, its steps and what they run. */
export function mentions(process: object, word: string): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [process];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string" && value.includes(word)) {
      return true;
    }
    if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const inner of value instanceof Map ? value.values() : Object.values(value)) {
        pending.push(inner);
      }
    }
  }
  return false;
}
