import { Anchor, Button, Image, SimpleGrid, Stack, Text } from "@mantine/core";
import { AssetTable, Awaited, CopyButton, Page, Part, PropertyTable, lazyPart } from "@swath/ui";
import { type StacAsset, type StacItem, formatTimeOf, titleOf } from "@swath/ui/stac";
import { useQuery } from "@tanstack/react-query";
import { Cpu, Download, Map as MapIcon, Pencil } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "react-router";

import { Trail } from "../../processing/parts/trail.tsx";
import { usePortal } from "../../src/session/portal.ts";
import { assetUrl, collectionQuery, itemQuery } from "../api/catalogue.ts";
import { itemAddress, permissionsQuery } from "../api/edit.ts";
import { collectionPath, explorePath, itemPath } from "../model/stac.ts";
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
  const time = formatTimeOf(item);
  const pictures = usePictures(item, PREVIEW_WIDTH);
  const [failed, setFailed] = useState<readonly string[]>([]);
  const picture = pictures.find((url) => !failed.includes(url));
  return (
    <Stack>
      {typeof description === "string" && <Text style={{ whiteSpace: "pre-wrap" }}>{description}</Text>}
      {time !== undefined && (
        <Text size="sm" c="dimmed">
          {time}
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
      <AssetTable
        assets={item.assets ?? {}}
        renderDownload={(asset, title) => <DownloadAsset asset={asset} title={title} />}
      />
      <PropertyTable item={item} />
    </Stack>
  );
}

function DownloadAsset({ asset, title }: { readonly asset: StacAsset; readonly title: string }) {
  const url = assetUrl(asset) ?? (/^https?:/.test(asset.href) ? asset.href : undefined);
  return (
    url !== undefined && (
      <Anchor href={url} download size="sm" aria-label={`Download ${title}`}>
        <Download size={16} aria-hidden />
      </Anchor>
    )
  );
}
