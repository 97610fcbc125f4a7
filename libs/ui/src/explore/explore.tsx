import { Alert, Button, Grid, Group, Paper, SegmentedControl, Slider, Stack, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { SquareDashed, Trash2 } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { useSearchParams } from "react-router";

import { CopyButton } from "../copy-button.tsx";
import type { Box, Polygon } from "../map/box.ts";
import { DrawArea } from "../map/draw-area.tsx";
import { MapSight, PickPoint } from "../map/map-events.tsx";
import { MapView } from "../map/map-view.tsx";
import { TileLayer } from "../map/tile-layer.tsx";
import { Awaited, Empty } from "../states.tsx";
import { type LayerInfo, areaQuery, layerQuery, layersQuery, pointQuery, tileUrl } from "./data.ts";
import { DownloadArea } from "./download-area.tsx";
import { LookControls } from "./look-controls.tsx";
import { SeriesChart } from "./series-chart.tsx";
import { type Look, type ViewState, readView, toAddresses, writeView } from "./view-state.ts";

interface ExploreProps {
  /** Where the browser asks data access: empty on its own host. */
  readonly base: string;
  /** Where other programs do. */
  readonly publicUrl: string;
  /** What an app offers to do with an area of a layer: beside its values. */
  readonly areaActions?: (layer: string, area: Polygon) => ReactNode;
}

/** Layers on a map, over time, side by side; values, files and addresses of what is shown. The page's address holds the view. */
export function Explore({ base, publicUrl, areaActions }: ExploreProps) {
  const layers = useQuery(layersQuery(base));
  return (
    <Awaited query={layers} what="Loading the layers">
      {(list) => <Viewer base={base} publicUrl={publicUrl} layers={list} {...(areaActions && { areaActions })} />}
    </Awaited>
  );
}

function Viewer({ base, publicUrl, areaActions, layers }: ExploreProps & { readonly layers: readonly LayerInfo[] }) {
  const [parameters, setParameters] = useSearchParams();
  // The page's address follows what is chosen: navigation takes a moment, which switches and sliders must not wait for.
  const [view, setView] = useState(() => readView(parameters));
  const address = writeView(view).toString();
  const follow = useEffectEvent((text: string) =>
    setParameters(new URLSearchParams(text), { replace: true, preventScrollReset: true }),
  );
  useEffect(() => follow(address), [address]);
  const look = view.look ?? firstLook(layers);
  const [box, setBox] = useState<Box>();
  const [swipe, setSwipe] = useState(50);
  const [tool, setTool] = useState<"point" | "area">("point");
  const [isDrawing, setDrawing] = useState(false);
  const [said, setSaid] = useState<string>();
  const [point, setPoint] = useState<readonly [number, number]>();
  const [area, setArea] = useState<Polygon>();
  const change = (part: Partial<ViewState>) => setView((now) => ({ ...now, look: now.look ?? look, ...part }));
  const listed = layers.find(({ id }) => id === look?.layer);
  const own = useQuery({ ...layerQuery(base, look?.layer ?? ""), enabled: look !== undefined && listed === undefined });
  const extent = (listed ?? own.data)?.extent.spatial.bbox[0];
  if (look === undefined) {
    return (
      <Empty title="There are no layers yet">
        Register scenes with the catalogue: collections show here by themselves.
      </Empty>
    );
  }
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 4 }} order={{ base: 2, md: 1 }}>
        <Stack>
          <Paper withBorder p="md">
            <LookControls
              base={base}
              label="What is shown"
              look={look}
              layers={layers}
              box={box}
              onChange={(next) => change({ look: next, ...(next.layer !== look.layer && { sight: undefined }) })}
            />
          </Paper>
          <Paper withBorder p="md">
            <Stack gap="sm">
              <Switch
                label="Compare with another"
                checked={view.other !== undefined}
                onChange={({ currentTarget }) => change({ other: currentTarget.checked ? look : undefined })}
              />
              {view.other !== undefined && (
                <>
                  <div>
                    <Text size="sm">Divider</Text>
                    <Slider thumbLabel="Divider" value={swipe} onChange={setSwipe} label={(value) => `${value} %`} />
                  </div>
                  <LookControls
                    base={base}
                    label="Right of the divider"
                    look={view.other}
                    layers={layers}
                    box={box}
                    onChange={(next) => change({ other: next })}
                  />
                </>
              )}
              <div>
                <Text size="sm">Opacity</Text>
                <Slider
                  thumbLabel="Opacity"
                  defaultValue={Math.round(view.opacity * 100)}
                  onChangeEnd={(value) => change({ opacity: value / 100 })}
                  label={(value) => `${value} %`}
                />
              </div>
            </Stack>
          </Paper>
          <Addresses publicUrl={publicUrl} look={look} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 8 }} order={{ base: 1, md: 2 }}>
        <Stack>
          <div style={{ position: "relative" }}>
            <MapView
              label="Layers on a map"
              height="min(62vh, 640px)"
              box={view.sight === undefined ? toBox(extent) : undefined}
            >
              <MapSight
                initial={view.sight}
                onMove={(sight, seen) => {
                  setBox(seen);
                  change({ sight });
                }}
              />
              <TileLayer url={tileUrl(base, look)} opacity={view.opacity} zIndex={10} />
              {view.other !== undefined && (
                <TileLayer url={tileUrl(base, view.other)} opacity={view.opacity} zIndex={11} from={swipe / 100} />
              )}
              <PickPoint isActive={tool === "point" && !isDrawing} value={point} onPick={setPoint} />
              <DrawArea
                shape="box"
                value={area}
                isDrawing={isDrawing}
                onSay={setSaid}
                onCancel={() => setDrawing(false)}
                onChange={(drawn) => {
                  setDrawing(false);
                  setArea(drawn);
                }}
              />
            </MapView>
            {view.other !== undefined && (
              <div
                aria-hidden
                style={{
                  position: "absolute",
                  insetBlock: 0,
                  left: `${swipe}%`,
                  width: 2,
                  background: "#fff",
                  boxShadow: "0 0 0 1px #0008",
                  pointerEvents: "none",
                }}
              />
            )}
          </div>
          <Paper withBorder p="md">
            <Stack gap="sm">
              <Group justify="space-between">
                <SegmentedControl
                  aria-label="Values of"
                  data={[
                    { value: "point", label: "Values at a point" },
                    { value: "area", label: "Values of an area" },
                  ]}
                  value={tool}
                  onChange={(value) => setTool(value as "point" | "area")}
                />
                {tool === "area" && (
                  <Group gap="xs">
                    <Button
                      size="xs"
                      variant={isDrawing ? "filled" : "light"}
                      aria-pressed={isDrawing}
                      leftSection={<SquareDashed size={14} aria-hidden />}
                      onClick={() => {
                        setSaid(undefined);
                        setDrawing(!isDrawing);
                      }}
                    >
                      Draw an area
                    </Button>
                    {area !== undefined && (
                      <Button
                        size="xs"
                        variant="default"
                        leftSection={<Trash2 size={14} aria-hidden />}
                        onClick={() => setArea(undefined)}
                      >
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
              ) : isDrawing ? (
                <Text size="sm" c="dimmed" role="status">
                  {said ??
                    "Click one corner, then the opposite one. With keys: arrows move the map below the cross, Enter sets a corner."}
                </Text>
              ) : area === undefined ? (
                <Text size="sm" c="dimmed">
                  Draw an area for its values over time, and to download it.
                </Text>
              ) : (
                <>
                  {areaActions?.(look.layer, area)}
                  <AreaValues base={base} look={look} area={area} />
                </>
              )}
            </Stack>
          </Paper>
        </Stack>
      </Grid.Col>
    </Grid>
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

function Addresses({ publicUrl, look }: { readonly publicUrl: string; readonly look: Look }) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" fw={600} component="h2" m={0} mb="xs">
        Use elsewhere
      </Text>
      <Stack gap={4}>
        {toAddresses(publicUrl, look).map(({ name, text }) => (
          <Group key={name} justify="space-between" wrap="nowrap">
            <Text size="sm">{name}</Text>
            <CopyButton value={text} label={`Copy ${name}`} />
          </Group>
        ))}
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm">Link to this view</Text>
          <CopyButton value={window.location.href} label="Copy the link to this view" />
        </Group>
      </Stack>
    </Paper>
  );
}

function firstLook([layer]: readonly LayerInfo[]): Look | undefined {
  return layer === undefined
    ? undefined
    : {
        layer: layer.id,
        style: undefined,
        time: undefined,
        expression: undefined,
        range: undefined,
        colours: undefined,
      };
}

function toBox(extent: readonly number[] | undefined): Box | undefined {
  const [west, south, east, north] = extent ?? [];
  return west === undefined || south === undefined || east === undefined || north === undefined
    ? undefined
    : [west, south, east, north];
}
