import { Problem } from "@swath/service";
import { type Static, Type } from "typebox";

import type { Schedule } from "../store/retention.ts";

/** Times as the known product writes them. */
export const CRONS: Readonly<Record<Schedule, string>> = {
  none: "",
  hourly: "0 0 * * * *",
  daily: "0 0 0 * * *",
  weekly: "0 0 0 * * 0",
};

const Cron = Type.Optional(Type.String({ maxLength: 100 }));
/** When something is done by itself; one product's API has the time in two places. */
export const Trigger = Type.Object({
  kind: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  settings: Type.Optional(Type.Object({ cron: Cron })),
  trigger_settings: Type.Optional(Type.Object({ cron: Cron })),
});

/** @throws {Problem} 400 for a time that is none of them, and for a trigger that is not by time */
export function toSchedule(trigger: Static<typeof Trigger> | undefined): Schedule {
  const kinds = [trigger?.kind, trigger?.type].map((kind) => kind?.toLowerCase() ?? "");
  const other = kinds.find((kind) => kind !== "" && kind !== "manual" && !kind.startsWith("schedule"));
  if (other !== undefined) {
    throw new Problem(400, `The trigger must be manual or scheduled, not ${other.slice(0, 40)}.`);
  }
  const isScheduled = kinds.some((kind) => kind.startsWith("schedule"));
  const cron = isScheduled ? (trigger?.settings?.cron ?? trigger?.trigger_settings?.cron ?? "") : "";
  const found = (Object.keys(CRONS) as Schedule[]).find((schedule) => CRONS[schedule] === cron);
  if (found === undefined) {
    const known = Object.values(CRONS).map((each) => `"${each}"`);
    throw new Problem(400, `The time of the trigger (cron) must be one of ${known.join(", ")}.`);
  }
  return found;
}
