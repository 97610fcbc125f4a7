import { Anchor, Badge, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { Awaited, Page, Part, lazyPart } from "@swath/ui";
import type { StacContainer } from "@swath/ui/stac";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Map as MapIcon, Pencil, Plus, Search } from "lucide-react";
import { Link, useParams } from "react-router";

import { Trail } from "../../processing/parts/trail.tsx";
import { usePortal } from "../../src/session/portal.ts";
import { collectionQuery, searchQuery } from "../api/catalogue.ts";
import { collectionAddress, permissionsQuery } from "../api/edit.ts";
import { collectionPath, explorePath } from "../model/stac.ts";
import { DeleteRecord } from "../parts/delete-record.tsx";
import { ResultList } from "../parts/result-list.tsx";

const ExtentMap = lazyPart(async () => ({ default: (await import("../parts/extent-map.tsx")).ExtentMap }));

/** What a collection holds, where and of when. */
export function Component() {
  const { collection: id = "" } = useParams();
  const { config } = usePortal();
  const collection = useQuery(collectionQuery(id));
  const { data: allowed } = useQuery(permissionsQuery(id));
  return (
    <Page
      title={collection.data?.title ?? id}
      above={<Trail steps={[{ to: "/catalogue/collections", label: "Collections" }, { label: id }]} />}
      actions={
        <>
          {config.services.includes("data-access") && (
            <Button
              component={Link}
              to={explorePath(id)}
              variant="default"
              leftSection={<MapIcon size={16} aria-hidden />}
            >
              Explore
            </Button>
          )}
          <Button
            component={Link}
            to={`/catalogue?collection=${encodeURIComponent(id)}`}
            leftSection={<Search size={16} aria-hidden />}
          >
            Search this collection
          </Button>
          {allowed?.collection?.mayWrite === true && <Changes id={id} />}
        </>
      }
    >
      <Awaited query={collection} what="Loading the collection">
        {(found) => <Details collection={found} />}
      </Awaited>
    </Page>
  );
}

/** For who may change the collection. */
function Changes({ id }: { readonly id: string }) {
  return (
    <>
      <Button
        component={Link}
        to={`${collectionPath(id)}/new-item`}
        variant="default"
        leftSection={<Plus size={16} aria-hidden />}
      >
        New item
      </Button>
      <Button
        component={Link}
        to={`${collectionPath(id)}/edit`}
        variant="default"
        leftSection={<Pencil size={16} aria-hidden />}
      >
        Edit
      </Button>
      {!id.startsWith("metadata:") && (
        <DeleteRecord
          address={collectionAddress(id)}
          id={id}
          warning="All items of the collection are deleted with it. Files that they name stay where they are."
          next="/catalogue/collections"
        />
      )}
    </>
  );
}

function Details({ collection }: { readonly collection: StacContainer }) {
  const { id, description, keywords = [], license, providers = [], extent } = collection;
  const latest = useInfiniteQuery(
    searchQuery({ collections: [id], sortby: [{ field: "properties.datetime", direction: "desc" }] }),
  );
  const items = latest.data?.pages[0]?.features.slice(0, 10) ?? [];
  const [from, to] = extent?.temporal?.interval?.[0] ?? [];
  const boxes = extent?.spatial?.bbox ?? [];
  return (
    <Stack>
      <Paper withBorder p="md">
        <Stack gap="sm">
          {description !== undefined && <Text style={{ whiteSpace: "pre-wrap" }}>{description}</Text>}
          <Group gap="xs">
            {keywords.map((keyword) => (
              <Badge key={keyword} variant="light" tt="none">
                {keyword}
              </Badge>
            ))}
          </Group>
          <Text size="sm" c="dimmed">
            {`${from?.slice(0, 10) ?? "…"} to ${to?.slice(0, 10) ?? "now"}`}
            {license === undefined ? "" : ` · License: ${license}`}
          </Text>
          {providers.length > 0 && (
            <Text size="sm">
              Providers:{" "}
              {providers.map(({ name, url }, index) => (
                <span key={name}>
                  {index > 0 && ", "}
                  {url === undefined ? name : <Anchor href={url}>{name}</Anchor>}
                </span>
              ))}
            </Text>
          )}
        </Stack>
      </Paper>
      {boxes.length > 0 && (
        <Part what="the map">
          <ExtentMap label={`Extent of ${collection.title ?? id}`} boxes={boxes} />
        </Part>
      )}
      {items.length > 0 && (
        <>
          <Text component="h2" fw={600}>
            Latest items
          </Text>
          <ResultList items={items} selected={undefined} onSelect={() => {}} />
        </>
      )}
    </Stack>
  );
}
