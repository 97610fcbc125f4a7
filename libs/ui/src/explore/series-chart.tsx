import { Button, Group, Stack, Text } from "@mantine/core";
import { Download } from "lucide-react";
import { useId } from "react";

import { DataTable } from "../data-table.tsx";
import type { SeriesPoint } from "./data.ts";

const WIDTH = 420;
const HEIGHT = 150;
const PAD = 24;
const COLOURS = ["#e8590c", "#1971c2", "#2f9e44", "#9c36b5"];

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
      <Group gap="md">
        {bands.map((band, index) => (
          <Group key={band} gap={4} wrap="nowrap">
            <span style={{ width: 12, height: 3, background: COLOURS[index] }} aria-hidden />
            <Text size="xs">{band}</Text>
          </Group>
        ))}
      </Group>
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
          onClick={() => save(toCsv(ordered, bands))}
        >
          Download CSV
        </Button>
      </Group>
    </Stack>
  );
}

function formatNumber(value: number | null): string {
  return value === null ? "–" : Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function toCsv(series: readonly SeriesPoint[], bands: readonly string[]): string {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = series.map(({ time, item, values }) =>
    [time, quote(item), ...bands.map((band) => values[band] ?? "")].join(","),
  );
  return [["datetime", "item", ...bands.map(quote)].join(","), ...lines, ""].join("\r\n");
}

function save(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "values.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
