import { Anchor, Group, Paper, Stack, Text } from "@mantine/core";
import { Part, formatTime, lazyPart } from "@swath/ui";
import { type StacItem, timeOf, titleOf } from "@swath/ui/stac";
import { useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";

import { browsePath } from "./paths.ts";
import { Thumbnail } from "./picture.tsx";
import { linksOf, toAddress, toBox } from "./stac.ts";

const FootprintMap = lazyPart(async () => ({ default: (await import("./footprint-map.tsx")).FootprintMap }));

interface ItemListProps {
  /** Items, and the document that each was found in. */
  readonly items: readonly { readonly item: StacItem; readonly address: string }[];
}

/** Items in a list and on a map. */
export function ItemList({ items }: ItemListProps) {
  const [selected, setSelected] = useState<string>();
  const navigate = useNavigate();
  const shown = useMemo(
    () =>
      items.map(({ item, address }) => ({
        item,
        href:
          linksOf(item, address, "self")[0]?.href ??
          (item.collection === undefined ? address : toAddress(`items/${item.id}`, address)),
      })),
    [items],
  );
  const footprints = useMemo(
    () => shown.map(({ item, href }) => ({ id: href, geometry: item.geometry, box: toBox(item.bbox) })),
    [shown],
  );
  return shown.length === 0 ? null : (
    <Stack gap="xs">
      <Part what="the map">
        <FootprintMap
          label="Footprints of the items"
          height={300}
          items={footprints}
          selected={selected}
          onSelect={(href) => void navigate(browsePath(href))}
        />
      </Part>
      <Stack component="ul" gap="xs" m={0} p={0} aria-label="Items">
        {shown.map(({ item, href }) => (
          <Paper
            key={href}
            component="li"
            withBorder
            p="xs"
            style={{ listStyle: "none" }}
            onMouseEnter={() => setSelected(href)}
            onFocus={() => setSelected(href)}
          >
            <Group gap="sm" wrap="nowrap" align="flex-start">
              <Thumbnail item={item} address={href} />
              <Stack gap={2} miw={0}>
                <Anchor component={Link} to={browsePath(href)} fw={600} size="sm" style={{ overflowWrap: "anywhere" }}>
                  {titleOf(item)}
                </Anchor>
                <Text size="xs" c="dimmed">
                  {[timeOf(item), item.collection]
                    .flatMap((text, index) =>
                      text === undefined ? [] : [index === 0 ? formatTime(new Date(text)) : text],
                    )
                    .join(" · ")}
                </Text>
              </Stack>
            </Group>
          </Paper>
        ))}
      </Stack>
    </Stack>
  );
}
