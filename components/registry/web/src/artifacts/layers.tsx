import { Box, Group, Stack, Text } from "@mantine/core";
import { RelativeTime, formatBytes, formatPlural } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { artifactApi, read } from "../api.ts";
import type { Descriptor, HistoryEntry, ImageConfig } from "../types.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";
import classes from "./layers.module.css";

interface LayersProps {
  readonly place: ArtifactPlace;
  readonly layers: readonly Descriptor[];
  readonly config: Descriptor | undefined;
}

interface Step {
  readonly layer: Descriptor | undefined;
  readonly entry: HistoryEntry | undefined;
}

const TITLE = "org.opencontainers.image.title";

/** Layers as bars, beside the commands that made them. */
export function Layers({ place: { project, repository, digest }, layers, config }: LayersProps) {
  const isImage = config !== undefined && /(?:image|container\.image).*\+json$/.test(config.mediaType);
  const about = useQuery({
    queryKey: ["config", project, repository, digest],
    queryFn: () => read<ImageConfig>(artifactApi(project, repository, digest, "/additions/config")),
    enabled: isImage,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const largest = Math.max(1, ...layers.map(({ size }) => size));
  const bytes = layers.reduce((sum, { size }) => sum + size, 0);
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {formatPlural(layers.length, "layer")}, {formatBytes(bytes)}
        {about?.os !== undefined && `; ${about.os}/${about.architecture ?? "?"}`}
        {about?.created !== undefined && (
          <>
            {"; made "}
            <RelativeTime time={about.created} />
          </>
        )}
        {about?.config?.Cmd !== undefined &&
          `; runs ${[...(about.config.Entrypoint ?? []), ...about.config.Cmd].join(" ")}`}
      </Text>
      <ol className={classes.steps}>
        {joinHistory(layers, about?.history).map(({ layer, entry }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the same layer may come twice, and the list never changes
          <li key={index} className={classes.step}>
            <Box className={classes.bar} aria-hidden>
              {layer && <div className={classes.fill} style={{ width: `${(100 * layer.size) / largest}%` }} />}
            </Box>
            <Text size="sm" className={classes.size}>
              {layer ? formatBytes(layer.size) : "no content"}
            </Text>
            <Group gap={6} miw={0} wrap="nowrap">
              <Text size="sm" ff="monospace" truncate title={describe(layer, entry)}>
                {describe(layer, entry)}
              </Text>
            </Group>
          </li>
        ))}
      </ol>
    </Stack>
  );
}

/** Steps of the history in their order, each with the layer that it made; layers alone where the history does not fit them. */
function joinHistory(layers: readonly Descriptor[], history: readonly HistoryEntry[] = []): readonly Step[] {
  const making = history.filter(({ empty_layer: isEmpty }) => isEmpty !== true);
  if (making.length !== layers.length) {
    return layers.map((layer) => ({ layer, entry: undefined }));
  }
  const left = [...layers];
  return history.map((entry) => ({ entry, layer: entry.empty_layer === true ? undefined : left.shift() }));
}

function describe(layer: Descriptor | undefined, entry: HistoryEntry | undefined): string {
  const command = entry?.created_by?.replace(/^\/bin\/sh -c (?:#\(nop\) *)?/, "").trim();
  return command || entry?.comment || layer?.annotations?.[TITLE] || layer?.mediaType || "";
}
