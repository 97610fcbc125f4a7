import { Group, Stack, Text } from "@mantine/core";
import { type ColourRamp, colourAt } from "@swath/ui/map";
import { useId } from "react";

import { type RasterStatistics, formatValue } from "../model/raster-statistics.ts";

const WIDTH = 320;
const HEIGHT = 110;

interface HistogramProps {
  readonly label: string;
  readonly statistics: RasterStatistics;
  readonly ramp: ColourRamp;
  readonly range: readonly [number, number];
}

/** How often each value comes, in the colours of the map. */
export function Histogram({ label, statistics, ramp, range: [low, high] }: HistogramProps) {
  const title = useId();
  const { histogram, count, empty, minimum, maximum, mean, deviation, median } = statistics;
  const { counts, from, width } = histogram;
  const most = Math.max(...counts);
  const bar = WIDTH / counts.length;
  const facts: readonly (readonly [string, string])[] = [
    ["Smallest", formatValue(minimum)],
    ["Mean", formatValue(mean)],
    ["Median", formatValue(median)],
    ["Largest", formatValue(maximum)],
    ["Deviation", formatValue(deviation)],
    ["Pixels", count.toLocaleString()],
    ["Without value", empty.toLocaleString()],
  ];
  return (
    <Stack gap={4}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" role="img" aria-labelledby={title}>
        <title
          id={title}
        >{`${label}: values from ${formatValue(minimum)} to ${formatValue(maximum)}, mean ${formatValue(mean)}`}</title>
        {counts.map((value, index) => {
          const height = (value / most) * (HEIGHT - 2);
          const middle = from + (index + 0.5) * width;
          const [red, green, blue] = colourAt(ramp, (middle - low) / (high - low || 1));
          return (
            <rect
              key={middle}
              x={index * bar}
              y={HEIGHT - height}
              width={Math.max(0.5, bar - 0.6)}
              height={height}
              fill={`rgb(${red} ${green} ${blue})`}
              stroke="var(--mantine-color-dimmed)"
              strokeWidth={0.3}
            />
          );
        })}
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} stroke="var(--mantine-color-dimmed)" />
      </svg>
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {formatValue(from)}
        </Text>
        <Text size="xs" c="dimmed">
          {formatValue(from + width * counts.length)}
        </Text>
      </Group>
      <dl style={{ display: "grid", gridTemplateColumns: "auto 1fr", gap: "2px 12px", margin: 0 }}>
        {facts.map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="xs" m={0}>
              {value}
            </Text>
          </div>
        ))}
      </dl>
    </Stack>
  );
}
