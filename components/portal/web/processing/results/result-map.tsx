import {
  Alert,
  Anchor,
  Box,
  Group,
  NativeSelect,
  Paper,
  ScrollArea,
  SimpleGrid,
  Stack,
  Text,
  UnstyledButton,
} from "@mantine/core";
import { formatBytes, formatTime } from "@swath/ui";
import { Footprints, GeoTiffLayer, MapView, PictureLayer, canDrawRasters } from "@swath/ui/map";
import { Download } from "lucide-react";
import { useMemo, useState } from "react";

import { useProcessing } from "../api/processing.ts";
import { type ResultItem, boxOfItems } from "../model/result-items.ts";
import { DrawErrorNote } from "./draw-error-note.tsx";
import { RasterPanel } from "./raster-panel.tsx";
import { readRaster } from "./read-raster.ts";
import classes from "./result-map.module.css";
import { useRasterLook } from "./use-raster-look.ts";

interface ResultMapProps {
  readonly job: string;
  readonly items: readonly ResultItem[];
}

/** The scenes of a result: where they lie, their rasters in colours, how their values are spread. */
export function ResultMap({ job, items }: ResultMapProps) {
  const client = useProcessing();
  const [canDraw] = useState(canDrawRasters);
  const [itemId, setItemId] = useState(items[0]?.id);
  const item = items.find(({ id }) => id === itemId) ?? items[0];
  const rasters = useMemo(
    () => item?.assets.filter(({ kind, path }) => kind === "raster" && path !== undefined) ?? [],
    [item],
  );
  const [assetKey, setAssetKey] = useState<string>();
  const asset = rasters.find(({ key }) => key === assetKey) ?? rasters[0];
  const look = useRasterLook({
    cacheKey: "raster",
    url: asset?.path === undefined ? undefined : client.fileUrl(job, asset.path),
    name: asset?.key ?? "",
    read: readRaster,
  });
  const bbox = useMemo(() => boxOfItems(item === undefined ? items : [item]), [item, items]);
  const footprints = useMemo(() => items.map(({ id, geometry }) => ({ id, geometry })), [items]);
  const picture = item?.assets.find(({ kind, path }) => kind === "picture" && path !== undefined);
  const choose = (id: string) => {
    setItemId(id);
    look.reset({ keepsRamp: true });
  };
  return (
    <div className={classes.layout}>
      <Stack gap="xs" miw={0}>
        <MapView label="Results on a map" height={460} box={bbox}>
          <Footprints items={footprints} selected={item?.id} onSelect={choose} outline />
          {canDraw && look.layer !== undefined && <GeoTiffLayer {...look.layer} />}
          {!canDraw && picture?.path !== undefined && item?.box !== undefined && (
            <PictureLayer url={client.fileUrl(job, picture.path)} box={item.box} opacity={look.opacity} />
          )}
        </MapView>
        {!canDraw && (
          <Alert variant="light" color="yellow">
            This browser draws no rasters (WebGL is off); the map shows the picture that the job made.
          </Alert>
        )}
        <DrawErrorNote error={look.drawError} />
        {item !== undefined && <ItemFacts job={job} item={item} />}
      </Stack>
      <Stack gap="sm" miw={0}>
        {items.length > 1 && <ItemList job={job} items={items} selected={item?.id} onSelect={choose} />}
        {asset !== undefined && (
          <Paper withBorder p="sm">
            <Stack gap="sm">
              {rasters.length > 1 && (
                <NativeSelect
                  label="Raster"
                  data={rasters.map(({ key, title }) => ({ value: key, label: title }))}
                  value={asset.key}
                  onChange={(event) => {
                    setAssetKey(event.currentTarget.value);
                    look.reset({ keepsRamp: false });
                  }}
                />
              )}
              <RasterPanel title={asset.title} {...look.panel} />
            </Stack>
          </Paper>
        )}
      </Stack>
    </div>
  );
}

interface ItemListProps extends ResultMapProps {
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
}

function ItemList({ job, items, selected, onSelect }: ItemListProps) {
  const client = useProcessing();
  return (
    <ScrollArea.Autosize mah={220} type="auto" scrollbars="y" classNames={{ content: classes.list ?? "" }}>
      <ul className={classes.items} aria-label="Scenes">
        {items.map((item) => {
          const picture = item.assets.find(({ kind, path }) => kind === "picture" && path !== undefined)?.path;
          return (
            <li key={item.id}>
              <UnstyledButton
                className={classes.item}
                aria-pressed={item.id === selected}
                onClick={() => onSelect(item.id)}
              >
                {picture !== undefined && <img src={client.fileUrl(job, picture)} alt="" loading="lazy" />}
                <Box miw={0}>
                  <Text size="sm" fw={600} truncate>
                    {item.title}
                  </Text>
                  {item.time !== undefined && (
                    <Text size="xs" c="dimmed">
                      {formatTime(new Date(item.time))}
                    </Text>
                  )}
                </Box>
              </UnstyledButton>
            </li>
          );
        })}
      </ul>
    </ScrollArea.Autosize>
  );
}

function ItemFacts({ job, item }: { readonly job: string; readonly item: ResultItem }) {
  const client = useProcessing();
  return (
    <Paper withBorder p="sm" component="section" aria-label={item.title}>
      <Stack gap="xs">
        <Text fw={600} style={{ overflowWrap: "anywhere" }}>
          {item.title}
        </Text>
        {item.time !== undefined && (
          <Text size="sm" c="dimmed">
            {formatTime(new Date(item.time))}
          </Text>
        )}
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={4}>
          {item.properties.map(([name, value]) => (
            <Text key={name} size="sm" style={{ overflowWrap: "anywhere" }}>
              <Text span c="dimmed" size="sm">
                {name}{" "}
              </Text>
              {value}
            </Text>
          ))}
        </SimpleGrid>
        <Group gap="sm">
          {item.assets.flatMap(({ key, title, path, size }) =>
            path === undefined
              ? []
              : [
                  <Anchor key={key} href={client.fileUrl(job, path, { download: true })} download size="sm">
                    <Group gap={4} wrap="nowrap">
                      <Download size={14} aria-hidden />
                      {title}
                      {size !== undefined && ` (${formatBytes(size)})`}
                    </Group>
                  </Anchor>,
                ],
          )}
        </Group>
      </Stack>
    </Paper>
  );
}
