import { Alert, Button, Group, Paper, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Spline, SquareDashed, Trash2 } from "lucide-react";
import type { ReactNode } from "react";

import type { Line, Polygon } from "../map/box.ts";
import { Awaited } from "../states.tsx";
import { areaQuery, pointQuery, profileQuery } from "./data.ts";
import { DownloadArea } from "./download-area.tsx";
import { ProfileChart } from "./profile-chart.tsx";
import { SeriesChart } from "./series-chart.tsx";
import type { Look } from "./view-state.ts";

export type ValuesTool = "point" | "area" | "line";

/** What is drawn for values, and how. */
const DRAWN = {
  area: {
    button: "Draw an area",
    icon: SquareDashed,
    hint: "Click one corner, then the opposite one. With keys: arrows move the map below the cross, Enter sets a corner.",
    empty: "Draw an area for its values over time, and to download it.",
  },
  line: {
    button: "Draw a line",
    icon: Spline,
    hint: "Click along the line, and once more on its last corner. With keys: arrows move the map below the cross, Enter sets a corner, and ends the line at the last one.",
    empty: "Draw a line for the values along it, of what is shown.",
  },
} as const;

interface ValuesPanelProps {
  readonly base: string;
  readonly look: Look;
  readonly tool: ValuesTool;
  readonly onTool: (tool: ValuesTool) => void;
  readonly drawing: "area" | "line" | undefined;
  readonly onDraw: (shape: "area" | "line" | undefined) => void;
  /** What the map says of corners that are set with keys. */
  readonly said: string | undefined;
  readonly point: readonly [number, number] | undefined;
  readonly area: Polygon | undefined;
  readonly line: Line | undefined;
  readonly onClear: () => void;
  /** Hears of the place on the line whose values are read. */
  readonly onPlace: (place: readonly [number, number]) => void;
  readonly areaActions?: (layer: string, area: Polygon) => ReactNode;
}

/** Values of what is shown: at a point and of an area over time, and along a line. */
export function ValuesPanel({
  base,
  look,
  tool,
  onTool,
  drawing,
  onDraw,
  said,
  point,
  area,
  line,
  onClear,
  onPlace,
  areaActions,
}: ValuesPanelProps) {
  const hasDrawn = (tool === "area" ? area : line) !== undefined;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Text size="sm" fw={600} component="h2" m={0}>
          Values
        </Text>
        <Group justify="space-between">
          <SegmentedControl
            aria-label="Values of"
            data={[
              { value: "point", label: "At a point" },
              { value: "area", label: "Of an area" },
              { value: "line", label: "Along a line" },
            ]}
            value={tool}
            onChange={(value) => onTool(value as ValuesTool)}
          />
          {tool !== "point" && (
            <Group gap="xs">
              <DrawButton shape={tool} isDrawing={drawing === tool} onDraw={onDraw} />
              {hasDrawn && (
                <Button size="xs" variant="default" leftSection={<Trash2 size={14} aria-hidden />} onClick={onClear}>
                  Clear
                </Button>
              )}
            </Group>
          )}
        </Group>
        {tool === "point" ? (
          point === undefined ? (
            <Text size="sm" c="dimmed">
              Click on the map, or press Enter on it for the place below the cross.
            </Text>
          ) : (
            <PointValues base={base} look={look} point={point} />
          )
        ) : drawing === tool ? (
          <Text size="sm" c="dimmed" role="status">
            {said ?? DRAWN[tool].hint}
          </Text>
        ) : tool === "area" && area !== undefined ? (
          <>
            {areaActions?.(look.layer, area)}
            <AreaValues base={base} look={look} area={area} />
          </>
        ) : tool === "line" && line !== undefined ? (
          <LineValues base={base} look={look} line={line} onPlace={onPlace} />
        ) : (
          <Text size="sm" c="dimmed">
            {DRAWN[tool].empty}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

function DrawButton({
  shape,
  isDrawing,
  onDraw,
}: {
  readonly shape: "area" | "line";
  readonly isDrawing: boolean;
  readonly onDraw: (shape: "area" | "line" | undefined) => void;
}) {
  const { button, icon: Icon } = DRAWN[shape];
  return (
    <Button
      size="xs"
      variant={isDrawing ? "filled" : "light"}
      aria-pressed={isDrawing}
      leftSection={<Icon size={14} aria-hidden />}
      onClick={() => onDraw(isDrawing ? undefined : shape)}
    >
      {button}
    </Button>
  );
}

function PointValues({
  base,
  look,
  point,
}: {
  readonly base: string;
  readonly look: Look;
  readonly point: readonly [number, number];
}) {
  const values = useQuery(pointQuery(base, look, point));
  const label = `${point[0].toFixed(4)}, ${point[1].toFixed(4)}`;
  return (
    <>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      {values.isError ? (
        <Alert color="gray">No scene has a value there.</Alert>
      ) : (
        <Awaited query={values} what="Reading the values">
          {(series) => <SeriesChart label={label} series={series} />}
        </Awaited>
      )}
    </>
  );
}

function AreaValues({ base, look, area }: { readonly base: string; readonly look: Look; readonly area: Polygon }) {
  const values = useQuery(areaQuery(base, look, area));
  return (
    <>
      <Awaited query={values} what="Reading the values">
        {(series) => <SeriesChart label="the area (mean)" series={series} />}
      </Awaited>
      <Text size="sm" fw={600} component="h3" m={0}>
        Download
      </Text>
      <DownloadArea base={base} look={look} area={area} />
    </>
  );
}

function LineValues({
  base,
  look,
  line,
  onPlace,
}: {
  readonly base: string;
  readonly look: Look;
  readonly line: Line;
  readonly onPlace: (place: readonly [number, number]) => void;
}) {
  const values = useQuery(profileQuery(base, look, line));
  return (
    <Awaited query={values} what="Reading the values">
      {(profile) => <ProfileChart profile={profile} onPoint={onPlace} />}
    </Awaited>
  );
}
