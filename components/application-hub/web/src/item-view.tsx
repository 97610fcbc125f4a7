import { Image, Paper, Stack, Table, Text, Title } from "@mantine/core";
import { Part, formatTime, lazyPart } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { AssetTable } from "./asset-table.tsx";
import { pictureQuery } from "./picture.tsx";
import { type StacItem, listProperties, timeOf, titleOf, toBox } from "./stac.ts";

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
  const time = timeOf(item);
  const { description } = item.properties;
  return (
    <Stack>
      {typeof description === "string" && <Text style={{ whiteSpace: "pre-wrap" }}>{description}</Text>}
      {time !== undefined && (
        <Text size="sm" c="dimmed">
          {formatTime(new Date(time))}
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
      {item.assets !== undefined && <AssetTable assets={item.assets} address={address} />}
      <Properties item={item} />
    </Stack>
  );
}

function Properties({ item }: { readonly item: StacItem }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Properties
      </Title>
      <Table aria-label="Properties" withRowBorders={false}>
        <Table.Tbody>
          {listProperties(item).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                  {name}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {value}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
