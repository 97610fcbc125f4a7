/** What is read of a job. */
interface JobTimes {
  readonly status: string;
  readonly started?: string;
  readonly finished?: string;
}

/** What a user used in a stretch of days. */
export interface UserUse {
  readonly username: string;
  readonly jobs: number;
  readonly failed: number;
  /** Hours in which jobs ran, together. */
  readonly hours: number;
  /** Bytes in the workspaces that the user owns, now. */
  readonly bytes: number;
  /** Hours of each day, the oldest first. */
  readonly daily: readonly number[];
}

const DAY_MS = 86_400_000;

/** Days of a stretch that ends today, `2026-11-23`, UTC, the oldest first. */
export function listDays(count: number, now: number): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Sums up jobs by the days on which they ran; one that runs over midnight counts on both. */
export function summarizeUse(
  username: string,
  { jobs, bytes }: { readonly jobs: readonly JobTimes[]; readonly bytes: number },
  days: readonly string[],
  now: number,
): UserUse {
  const begins = days.map((day) => Date.parse(`${day}T00:00:00Z`));
  const daily = begins.map((begin) =>
    jobs.reduce((sum, { started, finished }) => {
      if (started === undefined) {
        return sum;
      }
      const from = Math.max(begin, Date.parse(started));
      const to = Math.min(begin + DAY_MS, finished === undefined ? now : Date.parse(finished));
      return sum + Math.max(0, to - from) / 3_600_000;
    }, 0),
  );
  return {
    username,
    jobs: jobs.length,
    failed: jobs.filter(({ status }) => status === "failed").length,
    hours: daily.reduce((sum, hours) => sum + hours, 0),
    bytes,
    daily,
  };
}

export interface Rates {
  /** For an hour in which a job runs. */
  readonly hour: number;
  /** For a GiB kept for 30 days. */
  readonly gib: number;
}

/** What the use costs at given rates: storage as it is now, for the days of the stretch. */
export function costOf({ hours, bytes, daily }: UserUse, { hour, gib }: Rates): number {
  return hours * hour + ((bytes / 2 ** 30) * gib * daily.length) / 30;
}
