import { Anchor, Badge, Button, Group, Image, Paper, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import { Awaited, CopyButton, Page, Part, formatBytes, formatTime, lazyPart } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Cpu, Download, Map as MapIcon, Pencil } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "react-router";

import { Trail } from "../../processing/parts/trail.tsx";
import { usePortal } from "../../src/session/portal.ts";
import { assetUrl, collectionQuery, itemQuery } from "../api/catalogue.ts";
import { itemAddress, permissionsQuery } from "../api/edit.ts";
import {
  type StacAsset,
  type StacItem,
  collectionPath,
  explorePath,
  itemPath,
  listProperties,
  timeOf,
  titleOf,
} from "../model/stac.ts";
import { DeleteRecord } from "../parts/delete-record.tsx";
import { usePictures } from "../parts/thumbnail.tsx";
import { UseInProcessing } from "../parts/use-in-processing.tsx";

const PREVIEW_WIDTH = 640;
const ItemMap = lazyPart(async () => ({ default: (await import("../parts/item-map.tsx")).ItemMap }));

/** An item with all its assets. */
export function Component() {
  const { collection = "", item: id = "" } = useParams();
  const item = useQuery(itemQuery(collection, id));
  const parent = useQuery(collectionQuery(collection));
  return (
    <Page
      title={item.data === undefined ? id : titleOf(item.data)}
      above={
        <Trail
          steps={[
            { to: "/catalogue", label: "Catalogue" },
            { to: collectionPath(collection), label: parent.data?.title ?? collection },
            { label: id },
          ]}
        />
      }
      actions={item.data !== undefined && <Actions item={item.data} />}
    >
      <Awaited query={item} what="Loading the item">
        {(found) => <Details item={found} />}
      </Awaited>
    </Page>
  );
}

function Actions({ item }: { readonly item: StacItem }) {
  const { config } = usePortal();
  const [isOpen, setOpen] = useState(false);
  const self = item.links?.find(({ rel }) => rel === "self")?.href;
  const { collection = "metadata:main" } = item;
  const { data: allowed } = useQuery(permissionsQuery(collection));
  return (
    <>
      {self !== undefined && <CopyButton value={self} label="Copy STAC address" labelled />}
      {config.services.includes("data-access") && item.collection !== undefined && (
        <Button
          component={Link}
          to={explorePath(`${item.collection}__${item.id}`)}
          variant="default"
          leftSection={<MapIcon size={16} aria-hidden />}
        >
          Explore
        </Button>
      )}
      {config.services.includes("ades") && self !== undefined && (
        <Button leftSection={<Cpu size={16} aria-hidden />} onClick={() => setOpen(true)}>
          Use in processing
        </Button>
      )}
      {allowed?.collection?.mayWrite === true && (
        <>
          <Button
            component={Link}
            to={`${itemPath(item)}/edit`}
            variant="default"
            leftSection={<Pencil size={16} aria-hidden />}
          >
            Edit
          </Button>
          <DeleteRecord
            address={itemAddress(collection, item.id)}
            id={item.id}
            warning="Only the entry of the catalogue is deleted. Files that it names stay where they are."
            next={collectionPath(collection)}
          />
        </>
      )}
      {isOpen && self !== undefined && <UseInProcessing href={self} onClose={() => setOpen(false)} />}
    </>
  );
}

function Details({ item }: { readonly item: StacItem }) {
  const { description } = item.properties;
  const time = timeOf(item);
  const end = item.properties["end_datetime"];
  const pictures = usePictures(item, PREVIEW_WIDTH);
  const [failed, setFailed] = useState<readonly string[]>([]);
  const picture = pictures.find((url) => !failed.includes(url));
  return (
    <Stack>
      {typeof description === "string" && <Text style={{ whiteSpace: "pre-wrap" }}>{description}</Text>}
      {time !== undefined && (
        <Text size="sm" c="dimmed">
          {formatTime(new Date(time))}
          {typeof end === "string" && ` to ${formatTime(new Date(end))}`}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, md: picture === undefined ? 1 : 2 }}>
        <Part what="the map">
          <ItemMap item={item} />
        </Part>
        {picture !== undefined && (
          <Image
            src={picture}
            alt={`Preview of ${titleOf(item)}`}
            fit="contain"
            mah={420}
            onError={() => setFailed((before) => [...before, picture])}
          />
        )}
      </SimpleGrid>
      {picture === undefined && failed.length > 0 && (
        <Text size="sm" c="dimmed">
          There is no preview of this item.
        </Text>
      )}
      <Assets assets={item.assets ?? {}} />
      <Properties item={item} />
    </Stack>
  );
}

function Assets({ assets }: { readonly assets: Readonly<Record<string, StacAsset>> }) {
  return (
    <Paper withBorder p="md">
      <Text component="h2" fw={600} mb="xs">
        Assets
      </Text>
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label="Assets">
          <Table.Tbody>
            {Object.entries(assets).map(([key, asset]) => (
              <AssetRow key={key} name={key} asset={asset} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

function AssetRow({ name, asset }: { readonly name: string; readonly asset: StacAsset }) {
  const { title = name, description, type, roles = [], href, "file:size": size } = asset;
  const url = assetUrl(asset) ?? (/^https?:/.test(href) ? href : undefined);
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        {description !== undefined && (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          {roles.map((role) => (
            <Badge key={role} variant="default" size="sm" tt="none">
              {role}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td>
        <Text size="xs" c="dimmed">
          {[type, size === undefined ? undefined : formatBytes(size)].filter((text) => text !== undefined).join(" · ")}
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <CopyButton value={href} label={`Copy the address of ${title}`} />
          {url !== undefined && (
            <Anchor href={url} download size="sm" aria-label={`Download ${title}`}>
              <Download size={16} aria-hidden />
            </Anchor>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Properties({ item }: { readonly item: StacItem }) {
  const properties = listProperties(item);
  return properties.length === 0 ? null : (
    <Paper withBorder p="md">
      <Text component="h2" fw={600} mb="xs">
        Properties
      </Text>
      <Table aria-label="Properties" withRowBorders={false}>
        <Table.Tbody>
          {properties.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Text size="sm" c="dimmed">
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
