import type { Snapshot, Snapshots } from "../store/snapshots/snapshots.ts";

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;

/** Lengths in milliseconds; a month is one of the calendar, UTC, and at most this long. */
const PERIODS = { hourly: HOUR, daily: DAY, weekly: 7 * DAY, monthly: 31 * DAY } as const;
type PeriodName = keyof typeof PERIODS;

/** How many snapshots of each period are kept. */
export type SnapshotSchedule = ReadonlyMap<PeriodName, number>;

/** Reads `hourly=24,daily=7`. @throws {Error} that says what is allowed */
export function parseSnapshotSchedule(text: string): SnapshotSchedule {
  const schedule = new Map<PeriodName, number>();
  for (const item of text.split(",").map((each) => each.trim())) {
    const [, name = "", count = ""] = /^(\w+)=(\d{1,4})$/.exec(item) ?? [];
    if (!Object.hasOwn(PERIODS, name) || Number(count) < 1 || schedule.has(name as PeriodName)) {
      throw new Error(
        `OBJSTORE_SNAPSHOTS has "${item}": write each period once, as ${Object.keys(PERIODS).join(", ")}, with how many are kept, such as hourly=24,daily=7.`,
      );
    }
    schedule.set(name as PeriodName, Number(count));
  }
  return schedule;
}

/** Makes a scheduled snapshot when the last one is a period ago, and deletes those that are no longer kept. Called often. */
export async function snapshotWhenDue(
  snapshots: Pick<Snapshots, "list" | "create" | "delete">,
  schedule: SnapshotSchedule,
  now: number,
  signal?: AbortSignal,
): Promise<void> {
  const scheduled = (await snapshots.list()).filter(({ isScheduled }) => isScheduled);
  const period = Math.min(...[...schedule.keys()].map((name) => PERIODS[name]));
  const last = scheduled[0];
  // One of the future comes from a clock that was wrong.
  const age = last === undefined ? Infinity : now - Date.parse(last.created);
  const made = age >= period || age < 0 ? [await snapshots.create({ isScheduled: true, signal })] : [];
  for (const { id } of findSuperfluous([...made, ...scheduled], schedule)) {
    await snapshots.delete(id);
  }
}

/** Scheduled snapshots that no period keeps: each keeps the newest of each of its last days, hours and so on. Newest first. */
export function findSuperfluous<Item extends Pick<Snapshot, "created">>(
  scheduled: readonly Item[],
  schedule: SnapshotSchedule,
): Item[] {
  const kept = new Set<Item>();
  for (const [name, count] of schedule) {
    const seen = new Set<string>();
    for (const snapshot of scheduled) {
      const period = toPeriod(name, snapshot.created);
      if (!seen.has(period) && seen.size < count) {
        seen.add(period);
        kept.add(snapshot);
      }
    }
  }
  return scheduled.filter((snapshot) => !kept.has(snapshot));
}

function toPeriod(name: PeriodName, created: string): string {
  switch (name) {
    case "hourly":
      return created.slice(0, 13);
    case "daily":
      return created.slice(0, 10);
    case "weekly":
      // Weeks begin on Mondays; 1970 began on a Thursday.
      return String(Math.floor((Date.parse(created) + 3 * DAY) / PERIODS.weekly));
    case "monthly":
      return created.slice(0, 7);
  }
}
