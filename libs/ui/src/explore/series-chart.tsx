import { Button, Group, Stack, Text } from "@mantine/core";
import { Download } from "lucide-react";
import { useId } from "react";

import { DataTable } from "../data-table.tsx";
import { BandLegend } from "./band-legend.tsx";
import { CHART, COLOURS, formatNumber, quoteCell, saveCsv } from "./chart-parts.ts";
import type { SeriesPoint } from "./data.ts";

const { width: WIDTH, height: HEIGHT, pad: PAD } = CHART;

interface SeriesChartProps {
  /** What the values are of: "point 15.3, 46.3". */
  readonly label: string;
  readonly series: readonly SeriesPoint[];
}

/** Values over time as a chart, a table and a file. */
export function SeriesChart({ label, series }: SeriesChartProps) {
  const title = useId();
  const ordered = series.toSorted((a, b) => a.time.localeCompare(b.time));
  const bands = [...new Set(ordered.flatMap(({ values }) => Object.keys(values)))].slice(0, COLOURS.length);
  const times = ordered.map(({ time }) => Date.parse(time));
  const found = ordered.flatMap(({ values }) => Object.values(values)).filter((value) => value !== null);
  if (found.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No scene has a value there.
      </Text>
    );
  }
  const [low, high] = [Math.min(...found), Math.max(...found)];
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const x = (at: number) => PAD + ((times[at]! - first) / (last - first || 1)) * (WIDTH - 2 * PAD);
  const y = (value: number) => HEIGHT - PAD - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * PAD);
  return (
    <Stack gap="xs">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" role="img" aria-labelledby={title}>
        <title
          id={title}
        >{`${label}: ${ordered.length} scenes, values from ${formatNumber(low)} to ${formatNumber(high)}`}</title>
        <line x1={PAD} x2={WIDTH - PAD} y1={HEIGHT - PAD} y2={HEIGHT - PAD} stroke="var(--mantine-color-dimmed)" />
        {[low, high].map((value) => (
          <text key={value} x={2} y={y(value) - 2} fontSize={10} fill="var(--mantine-color-text)">
            {formatNumber(value)}
          </text>
        ))}
        {bands.map((band, index) => {
          const points = ordered.flatMap(({ values }, at) => {
            const value = values[band];
            return value === null || value === undefined ? [] : [[x(at), y(value)] as const];
          });
          return (
            <g key={band}>
              <polyline
                points={points.map((point) => point.join(",")).join(" ")}
                fill="none"
                stroke={COLOURS[index]}
                strokeWidth={1.5}
              />
              {points.map(([left, top]) => (
                <circle key={`${left} ${top}`} cx={left} cy={top} r={3} fill={COLOURS[index]} />
              ))}
            </g>
          );
        })}
      </svg>
      <BandLegend bands={bands} />
      <DataTable
        label={`Values of ${label}`}
        rows={ordered.toReversed().slice(0, 50)}
        rowKey={({ item, time }) => `${item} ${time}`}
        columns={[
          { key: "time", header: "Time", render: ({ time }) => time.slice(0, 16).replace("T", " ") },
          ...bands.map((band) => ({
            key: band,
            header: band,
            render: ({ values }: SeriesPoint) => formatNumber(values[band] ?? null),
          })),
        ]}
      />
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          onClick={() => saveCsv(toCsv(ordered, bands), "values.csv")}
        >
          Download CSV
        </Button>
      </Group>
    </Stack>
  );
}

function toCsv(series: readonly SeriesPoint[], bands: readonly string[]): string {
  const lines = series.map(({ time, item, values }) =>
    [time, quoteCell(item), ...bands.map((band) => values[band] ?? "")].join(","),
  );
  return [["datetime", "item", ...bands.map(quoteCell)].join(","), ...lines, ""].join("\r\n");
}
