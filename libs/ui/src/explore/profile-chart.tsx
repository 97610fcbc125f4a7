import { Button, Group, Slider, Stack, Text } from "@mantine/core";
import { Download } from "lucide-react";
import { useId, useState } from "react";

import { BandLegend } from "./band-legend.tsx";
import { CHART, COLOURS, formatNumber, quoteCell, saveCsv } from "./chart-parts.ts";
import type { Profile } from "./data.ts";

const { width: WIDTH, height: HEIGHT, pad: PAD } = CHART;

interface ProfileChartProps {
  readonly profile: Profile;
  /** Hears of the place on the line whose values are read. */
  readonly onPoint: (point: readonly [lon: number, lat: number]) => void;
}

/** Values along a line as a chart, at a place of it that a slider chooses, and as a file. */
export function ProfileChart({ profile: { expressions, points }, onPoint }: ProfileChartProps) {
  const title = useId();
  const [at, setAt] = useState<number>();
  const bands = expressions.slice(0, COLOURS.length);
  const found = points.flatMap(({ values }) => values.slice(0, bands.length)).filter((value) => value !== null);
  if (found.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No scene of what is shown has a value on the line.
      </Text>
    );
  }
  const [low, high] = [Math.min(...found), Math.max(...found)];
  const length = points.at(-1)?.kilometres ?? 0;
  const x = (kilometres: number) => PAD + (kilometres / (length || 1)) * (WIDTH - 2 * PAD);
  const y = (value: number) => HEIGHT - PAD - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * PAD);
  const read = at === undefined ? undefined : points[at];
  const move = (index: number) => {
    const point = points[index];
    setAt(index);
    if (point !== undefined) {
      onPoint([point.x, point.y]);
    }
  };
  return (
    <Stack gap="xs">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" role="img" aria-labelledby={title}>
        <title
          id={title}
        >{`the line: ${formatNumber(length)} km, values from ${formatNumber(low)} to ${formatNumber(high)}`}</title>
        <line x1={PAD} x2={WIDTH - PAD} y1={HEIGHT - PAD} y2={HEIGHT - PAD} stroke="var(--mantine-color-dimmed)" />
        {[low, high].map((value) => (
          <text key={value} x={2} y={y(value) - 2} fontSize={10} fill="var(--mantine-color-text)">
            {formatNumber(value)}
          </text>
        ))}
        {[0, length].map((kilometres) => (
          <text
            key={kilometres}
            x={x(kilometres)}
            y={HEIGHT - 8}
            fontSize={10}
            textAnchor={kilometres === 0 ? "start" : "end"}
            fill="var(--mantine-color-text)"
          >
            {kilometres === 0 ? "0 km" : `${formatNumber(kilometres)} km`}
          </text>
        ))}
        {bands.map((band, index) => (
          <path key={band} d={toPath(points, index, x, y)} fill="none" stroke={COLOURS[index]} strokeWidth={1.5} />
        ))}
        {read !== undefined && (
          <line
            x1={x(read.kilometres)}
            x2={x(read.kilometres)}
            y1={PAD / 2}
            y2={HEIGHT - PAD}
            stroke="var(--mantine-color-text)"
            strokeDasharray="3 3"
          />
        )}
      </svg>
      <div>
        <Text size="sm">Place on the line</Text>
        <Slider
          thumbLabel="Place on the line"
          min={0}
          max={points.length - 1}
          value={at ?? 0}
          onChange={move}
          label={(index) => `${formatNumber(points[index]?.kilometres ?? 0)} km`}
        />
      </div>
      <div role="status">
        <BandLegend bands={bands} {...(read !== undefined && { values: read.values.map(formatNumber) })} />
      </div>
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          onClick={() => saveCsv(toCsv({ expressions, points }), "profile.csv")}
        >
          Download CSV
        </Button>
      </Group>
    </Stack>
  );
}

/** One band as a line, which is interrupted where there is no value. */
function toPath(
  points: Profile["points"],
  band: number,
  x: (kilometres: number) => number,
  y: (value: number) => number,
): string {
  let hasGap = true;
  return points
    .flatMap(({ kilometres, values }) => {
      const value = values[band];
      const command = hasGap ? "M" : "L";
      hasGap = value === null || value === undefined;
      return value === null || value === undefined
        ? []
        : [`${command}${x(kilometres).toFixed(1)} ${y(value).toFixed(1)}`];
    })
    .join("");
}

function toCsv({ expressions, points }: Profile): string {
  const lines = points.map(({ x, y, kilometres, values }) =>
    [x, y, kilometres.toFixed(4), ...values.map((value) => value ?? "")].join(","),
  );
  return [["longitude", "latitude", "kilometres", ...expressions.map(quoteCell)].join(","), ...lines, ""].join("\r\n");
}
