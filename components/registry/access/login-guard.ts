const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Counts failed logins, so that passwords cannot be tried one after the other. */
export interface LoginGuard {
  /** Whether this name may be tried from this address now. */
  readonly isOpen: (key: string) => boolean;
  readonly recordFailure: (key: string) => void;
}

export function createLoginGuard(clock: () => number = Date.now): LoginGuard {
  const failures = new Map<string, { count: number; readonly since: number }>();
  const find = (key: string) => {
    const entry = failures.get(key);
    return entry !== undefined && clock() - entry.since < WINDOW_MS ? entry : undefined;
  };
  return {
    isOpen: (key) => (find(key)?.count ?? 0) < MAX_FAILURES,
    recordFailure: (key) => {
      const entry = find(key);
      if (entry !== undefined) {
        entry.count += 1;
        return;
      }
      failures.delete(key);
      failures.set(key, { count: 1, since: clock() });
      for (const oldest of failures.keys().take(Math.max(0, failures.size - MAX_ENTRIES))) {
        failures.delete(oldest);
      }
    },
  };
}
