import { Image, Stack, Text } from "@mantine/core";
import { Part, PropertyTable, lazyPart } from "@swath/ui";
import { type StacItem, formatTimeOf, titleOf } from "@swath/ui/stac";
import { useQuery } from "@tanstack/react-query";

import { Assets } from "./assets.tsx";
import { pictureQuery } from "./picture.tsx";
import { toBox } from "./stac.ts";

const FootprintMap = lazyPart(async () => ({ default: (await import("./footprint-map.tsx")).FootprintMap }));
const MAP_WIDTH = 1024;
const PICTURE_WIDTH = 512;

interface ItemViewProps {
  readonly item: StacItem;
  readonly address: string;
}

/** An item: where it lies and what it looks like, its files and properties. */
export function ItemView({ item, address }: ItemViewProps) {
  const drawn = useQuery(pictureQuery(item, address, MAP_WIDTH, true));
  // Its own picture has no place on the map.
  const own = useQuery({ ...pictureQuery(item, address, PICTURE_WIDTH), enabled: drawn.isFetched && !drawn.data });
  const box = toBox(item.bbox);
  const time = formatTimeOf(item);
  const { description } = item.properties;
  return (
    <Stack>
      {typeof description === "string" && <Text style={{ whiteSpace: "pre-wrap" }}>{description}</Text>}
      {time !== undefined && (
        <Text size="sm" c="dimmed">
          {time}
        </Text>
      )}
      <Part what="the map">
        <FootprintMap
          label={`Map of ${titleOf(item)}`}
          items={[{ id: item.id, geometry: item.geometry, box }]}
          picture={drawn.data && box ? { url: drawn.data, box } : undefined}
        />
      </Part>
      <Text size="sm" c="dimmed" role="status">
        {drawn.data
          ? "The picture is drawn by data access."
          : drawn.isFetched && own.isFetched && !own.data
            ? "There is no preview of this item."
            : ""}
      </Text>
      {own.data && <Image src={own.data} alt={`Preview of ${titleOf(item)}`} fit="contain" mah={420} />}
      {item.assets !== undefined && <Assets assets={item.assets} address={address} />}
      <PropertyTable item={item} />
    </Stack>
  );
}
