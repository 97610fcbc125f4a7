import { Text, Tooltip, UnstyledButton } from "@mantine/core";
import { formatCount } from "@swath/ui";

import type { TimeBucket } from "../api/catalogue.ts";
import classes from "./time-histogram.module.css";

/** Months at most; older ones are left out, and said to be. */
const MAX_MONTHS = 120;

interface TimeHistogramProps {
  readonly buckets: readonly TimeBucket[];
  readonly onMonth: (from: string, to: string) => void;
}

/** How many items there are of each month; a click searches that month. */
export function TimeHistogram({ buckets, onMonth }: TimeHistogramProps) {
  const shown = buckets.filter(({ frequency }) => frequency > 0).slice(-MAX_MONTHS);
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) {
    return null;
  }
  const most = Math.max(...shown.map(({ frequency }) => frequency));
  return (
    <div>
      <div className={classes["bars"] ?? ""} role="group" aria-label="Results by month">
        {shown.map(({ key, frequency }) => {
          const month = key.slice(0, 7);
          const label = `${month}: ${formatCount(frequency)}`;
          return (
            <Tooltip key={key} label={label}>
              <UnstyledButton
                className={classes["bar"] ?? ""}
                aria-label={label}
                onClick={() => onMonth(`${month}-01`, lastDayOf(month))}
              >
                <span style={{ height: `${Math.max(6, (100 * frequency) / most)}%` }} />
              </UnstyledButton>
            </Tooltip>
          );
        })}
      </div>
      <Text size="xs" c="dimmed">
        {first.key.slice(0, 7)}
        {first === last ? "" : ` to ${last.key.slice(0, 7)}`}
        {shown.length < buckets.length && buckets.length > MAX_MONTHS
          ? `, the last ${MAX_MONTHS} months with results`
          : ""}
      </Text>
    </div>
  );
}

export function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return `${month}-${new Date(Date.UTC(year, number, 0)).getUTCDate()}`;
}
