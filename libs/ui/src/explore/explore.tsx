import { Grid, Group, Paper, Slider, Stack, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { useSearchParams } from "react-router";

import { CopyButton } from "../copy-button.tsx";
import type { Box, Line, Polygon } from "../map/box.ts";
import { DrawShape } from "../map/draw-shape.tsx";
import { MapSight, PickPoint } from "../map/map-events.tsx";
import { MapView } from "../map/map-view.tsx";
import { TileLayer } from "../map/tile-layer.tsx";
import { Awaited, Empty } from "../states.tsx";
import { type LayerInfo, layerQuery, layersQuery, tileUrl } from "./data.ts";
import { LookControls } from "./look-controls.tsx";
import { ValuesPanel, type ValuesTool } from "./values-panel.tsx";
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
  // The first move of a map is its own: it must not count as a view that somebody chose before the layer's extent is known.
  const [goesToLayer, setGoesToLayer] = useState(view.sight === undefined);
  const look = view.look ?? firstLook(layers);
  const [bbox, setBox] = useState<Box>();
  const [swipe, setSwipe] = useState(50);
  const [tool, setTool] = useState<ValuesTool>("point");
  const [drawing, setDrawing] = useState<"area" | "line">();
  const [said, setSaid] = useState<string>();
  const [point, setPoint] = useState<readonly [number, number]>();
  const [area, setArea] = useState<Polygon>();
  const [line, setLine] = useState<Line>();
  const [place, setPlace] = useState<readonly [number, number]>();
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
              box={bbox}
              onChange={(next) => {
                setGoesToLayer((now) => now || next.layer !== look.layer);
                change({ look: next, ...(next.layer !== look.layer && { sight: undefined }) });
              }}
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
                    box={bbox}
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
            <MapView label="Layers on a map" height="min(62vh, 640px)" box={goesToLayer ? toBox(extent) : undefined}>
              <MapSight
                initial={view.sight}
                onMove={(sight, seen) => {
                  setBox(seen);
                  if (!goesToLayer || extent !== undefined || own.isError) {
                    setGoesToLayer(false);
                    change({ sight });
                  }
                }}
              />
              <TileLayer url={tileUrl(base, look)} opacity={view.opacity} zIndex={10} />
              {view.other !== undefined && (
                <TileLayer url={tileUrl(base, view.other)} opacity={view.opacity} zIndex={11} from={swipe / 100} />
              )}
              <PickPoint isActive={tool === "point"} value={tool === "line" ? place : point} onPick={setPoint} />
              <DrawShape
                shape="box"
                value={area}
                isDrawing={drawing === "area"}
                onSay={setSaid}
                onCancel={() => setDrawing(undefined)}
                onChange={(drawn) => {
                  setDrawing(undefined);
                  setArea(drawn);
                }}
              />
              <DrawShape
                shape="line"
                value={line}
                isDrawing={drawing === "line"}
                onSay={setSaid}
                onCancel={() => setDrawing(undefined)}
                onChange={(drawn) => {
                  setDrawing(undefined);
                  setPlace(undefined);
                  setLine(drawn);
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
          <ValuesPanel
            base={base}
            look={look}
            tool={tool}
            drawing={drawing}
            onTool={(next) => {
              setTool(next);
              setDrawing(undefined);
            }}
            said={said}
            onDraw={(shape) => {
              setSaid(undefined);
              setDrawing(shape);
            }}
            point={point}
            area={area}
            onClear={() => {
              setArea(undefined);
              setLine(undefined);
              setPlace(undefined);
            }}
            line={line}
            onPlace={setPlace}
            {...(areaActions && { areaActions })}
          />
        </Stack>
      </Grid.Col>
    </Grid>
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
