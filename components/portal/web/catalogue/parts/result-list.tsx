import { Anchor, Badge, Group, Paper, Stack, Text } from "@mantine/core";
import { formatTime } from "@swath/ui";
import { type StacItem, timeOf, titleOf } from "@swath/ui/stac";
import { Link } from "react-router";

import { cloudCoverOf, itemPath } from "../model/stac.ts";
import classes from "./result-list.module.css";
import { Thumbnail } from "./thumbnail.tsx";

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

function describe(item: StacItem): string {
  const [time, cover] = [timeOf(item), cloudCoverOf(item)];
  const platform = item.properties["platform"];
  return [
    ...(time === undefined ? [] : [formatTime(new Date(time))]),
    ...(typeof platform === "string" ? [platform] : []),
    ...(cover === undefined ? [] : [`${Math.round(cover)} % clouds`]),
  ].join(" · ");
}
