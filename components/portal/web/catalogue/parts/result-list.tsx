import { Anchor, Badge, Group, Image, Paper, Stack, Text } from "@mantine/core";
import { formatTime } from "@swath/ui";
import { Satellite } from "lucide-react";
import { Link } from "react-router";

import { assetUrl } from "../api/catalogue.ts";
import { type StacItem, cloudCoverOf, itemPath, pictureAssets, timeOf, titleOf } from "../model/stac.ts";
import classes from "./result-list.module.css";

/** Ids are unique within a collection only. */
export const keyOf = ({ collection = "", id }: StacItem): string => `${collection}/${id}`;

interface ResultListProps {
  readonly items: readonly StacItem[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
}

/** What was found, in step with the map. */
export function ResultList({ items, selected, onSelect }: ResultListProps) {
  return (
    <Stack gap="xs" component="ul" className={classes["list"] ?? ""} aria-label="Results">
      {items.map((item) => {
        const key = keyOf(item);
        return (
          <Paper
            key={key}
            component="li"
            withBorder
            p="xs"
            className={classes["result"] ?? ""}
            data-selected={key === selected || undefined}
            onMouseEnter={() => onSelect(key)}
            onFocus={() => onSelect(key)}
          >
            <Group gap="sm" wrap="nowrap" align="flex-start">
              <Thumbnail item={item} />
              <Stack gap={2} miw={0}>
                <Anchor component={Link} to={itemPath(item)} fw={600} size="sm" truncate>
                  {titleOf(item)}
                </Anchor>
                <Text size="xs" c="dimmed">
                  {describe(item)}
                </Text>
                {item.collection !== undefined && (
                  <Badge variant="default" size="sm" tt="none">
                    {item.collection}
                  </Badge>
                )}
              </Stack>
            </Group>
          </Paper>
        );
      })}
    </Stack>
  );
}

interface ThumbnailProps {
  readonly item: StacItem;
  /** Pixels, or a share of the room with a height of its own. */
  readonly size?: number | string;
  readonly height?: number;
}

/** The smallest picture of an item that the portal can show. */
export function Thumbnail({ item, size = 64, height }: ThumbnailProps) {
  const url = pictureAssets(item)
    .map(assetUrl)
    .find((address) => address !== undefined);
  return url === undefined ? (
    <div className={classes["placeholder"] ?? ""} style={{ width: size, height: height ?? size }} aria-hidden>
      <Satellite size={(height ?? Number(size)) / 2.5} strokeWidth={1.2} />
    </div>
  ) : (
    <Image src={url} alt="" w={size} h={height ?? size} radius="sm" fit="cover" loading="lazy" />
  );
}

function describe(item: StacItem): string {
  const [time, cover] = [timeOf(item), cloudCoverOf(item)];
  const platform = item.properties["platform"];
  return [
    ...(time === undefined ? [] : [formatTime(new Date(time))]),
    ...(typeof platform === "string" ? [platform] : []),
    ...(cover === undefined ? [] : [`${Math.round(cover)} % clouds`]),
  ].join(" · ");
}
