import { Text } from "@mantine/core";

import classes from "./bars.module.css";

interface BarsProps {
  /** "Processing hours a day". */
  readonly label: string;
  readonly days: readonly string[];
  readonly values: readonly number[];
  readonly format: (value: number) => string;
}

/** A value a day as bars, each with its number for those who point at it or hear it. */
export function Bars({ label, days, values, format }: BarsProps) {
  const most = Math.max(...values, 1e-9);
  const sum = values.reduce((total, value) => total + value, 0);
  const top = values.indexOf(Math.max(...values));
  return (
    <figure className={classes["figure"] ?? ""} aria-label={`${label}: ${format(sum)} in all, most on ${days[top]}`}>
      <div className={classes["bars"] ?? ""} aria-hidden>
        {values.map((value, index) => (
          <div key={days[index]} className={classes["slot"] ?? ""} title={`${days[index]}: ${format(value)}`}>
            <div className={classes["bar"] ?? ""} style={{ height: `${(value / most) * 100}%` }} />
          </div>
        ))}
      </div>
      <figcaption className={classes["caption"] ?? ""}>
        <Text span size="xs" c="dimmed">
          {days[0]}
        </Text>
        <Text span size="xs" c="dimmed">
          {label}; highest {format(Math.max(...values))}
        </Text>
        <Text span size="xs" c="dimmed">
          {days.at(-1)}
        </Text>
      </figcaption>
    </figure>
  );
}
