import assert from "node:assert/strict";
import { test } from "node:test";

import type { Snapshot } from "../store/snapshots/snapshots.ts";
import { findSuperfluous, parseSnapshotSchedule, snapshotWhenDue } from "./snapshot-schedule.ts";

const HOUR = 3600 * 1000;

test("a schedule names periods once, with how many are kept", () => {
  assert.deepEqual(
    [...parseSnapshotSchedule("hourly=24, daily=7")],
    [
      ["hourly", 24],
      ["daily", 7],
    ],
  );
  for (const text of ["", "hourly", "hourly=0", "hourly=24,hourly=1", "yearly=1", "hourly=-1", "constructor=1"]) {
    assert.throws(() => parseSnapshotSchedule(text), /OBJSTORE_SNAPSHOTS has/, text);
  }
});

test("the newest of each period is kept", () => {
  const created = ["2026-03-02T10:40", "2026-03-02T10:05", "2026-03-02T09:59", "2026-03-01T23:00", "2026-02-28T01:00"];
  const all = created.map((time) => ({ created: `${time}:00.000Z` }));
  const find = (text: string) => findSuperfluous(all, parseSnapshotSchedule(text)).map((each) => all.indexOf(each));
  assert.deepEqual(find("hourly=2"), [1, 3, 4]);
  assert.deepEqual(find("daily=2"), [1, 2, 4]);
  assert.deepEqual(find("hourly=2,daily=3"), [1]);
  // 2 March 2026 was a Monday.
  assert.deepEqual(find("weekly=2"), [1, 2, 4]);
  assert.deepEqual(find("monthly=2"), [1, 2, 3]);
});

test("over three days snapshots come each hour, and those made by hand stay", async () => {
  let now = Date.parse("2026-03-01T00:00:00Z");
  const made: Snapshot[] = [];
  const create = ({ isScheduled }: { readonly isScheduled: boolean }) => {
    const created = new Date(now).toISOString();
    made.unshift({ id: created, created, isScheduled, sharing: "hard link", buckets: [], lostFiles: 0 });
    return Promise.resolve(made[0] as Snapshot);
  };
  const snapshots = {
    list: () => Promise.resolve([...made]),
    create,
    delete: (id: string) =>
      Promise.resolve(
        made.splice(
          made.findIndex((each) => each.id === id),
          1,
        ).length > 0,
      ),
  };
  const schedule = parseSnapshotSchedule("hourly=5,daily=3");
  await create({ isScheduled: false });
  for (const end = now + 72 * HOUR; now < end; now += HOUR / 4) {
    await snapshotWhenDue(snapshots, schedule, now);
  }
  const times = made.map(({ created }) => created.slice(5, 13));
  assert.deepEqual(times, [
    "03-03T23",
    "03-03T22",
    "03-03T21",
    "03-03T20",
    "03-03T19",
    "03-02T23",
    "03-01T23",
    "03-01T00",
  ]);
  assert.deepEqual(made.filter(({ isScheduled }) => !isScheduled).length, 1);
});
