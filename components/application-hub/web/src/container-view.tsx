import { Anchor, Badge, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { ErrorNote, Loading, formatTime, lazyPart, Part } from "@swath/ui";
import { type ItemPage, type StacContainer, type StacItem, type StacLink, titleOf } from "@swath/ui/stac";
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";

import { Assets } from "./assets.tsx";
import { ItemList } from "./item-list.tsx";
import { browsePath, searchPath } from "./paths.ts";
import { readJson } from "./platform.ts";
import { type CollectionPage, linksOf, nameOf, toAddress, toBox, toPolygon } from "./stac.ts";

const ExtentMap = lazyPart(async () => ({ default: (await import("./footprint-map.tsx")).FootprintMap }));
const STATIC_ITEMS = 24;

interface ContainerViewProps {
  readonly container: StacContainer;
  readonly address: string;
}

/** A catalogue or collection: what it says of itself, and what is in it. */
export function ContainerView({ container, address }: ContainerViewProps) {
  const [api] = linksOf(container, address, "search");
  const root = linksOf(container, address, "root")[0]?.href ?? address;
  const [collections] = linksOf(container, address, "data");
  const children = linksOf(container, address, "child");
  const [items] = linksOf(container, address, "items");
  const single = linksOf(container, address, "item");
  const isCollection = container.type === "Collection";
  return (
    <Stack>
      <About container={container} />
      {(api !== undefined || (isCollection && items !== undefined)) && (
        <Group>
          <Button
            component={Link}
            to={searchPath(isCollection ? root : address, isCollection ? container.id : undefined)}
            variant="default"
            leftSection={<Search size={16} aria-hidden />}
          >
            Search
          </Button>
        </Group>
      )}
      {container.assets !== undefined && <Assets assets={container.assets} address={address} />}
      {collections !== undefined ? (
        <Collections address={collections.href} />
      ) : (
        children.length > 0 && <Children links={children} />
      )}
      {items !== undefined ? (
        <ApiItems address={items.href} />
      ) : (
        single.length > 0 && <StaticItems key={address} links={single} />
      )}
      {collections === undefined && items === undefined && children.length + single.length === 0 && (
        <Text c="dimmed">There is nothing in it.</Text>
      )}
    </Stack>
  );
}

function About({
  container: { description, license, keywords = [], extent, providers = [] },
}: Omit<ContainerViewProps, "address">) {
  const boxes = (extent?.spatial?.bbox ?? []).map(toBox).filter((box) => box !== undefined);
  const [begin, end] = extent?.temporal?.interval?.[0] ?? [];
  const facts = [
    ...(begin ? [`from ${formatTime(new Date(begin))}`] : []),
    ...(end ? [`to ${formatTime(new Date(end))}`] : []),
    ...(license === undefined ? [] : [`License: ${license}`]),
    ...(providers.length === 0 ? [] : [`Providers: ${providers.map(({ name }) => name).join(", ")}`]),
  ];
  return (
    <Stack gap="xs">
      {description !== undefined && (
        <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{description}</Text>
      )}
      {facts.length > 0 && (
        <Text size="sm" c="dimmed">
          {facts.join(" · ")}
        </Text>
      )}
      {keywords.length > 0 && (
        <Group gap={4}>
          {keywords.map((word) => (
            <Badge key={word} variant="default" tt="none">
              {word}
            </Badge>
          ))}
        </Group>
      )}
      {boxes.length > 0 && (
        <Part what="the map">
          <ExtentMap
            label="Extent"
            height={260}
            items={boxes.map((box, index) => ({ id: String(index), geometry: toPolygon(box), box }))}
          />
        </Part>
      )}
    </Stack>
  );
}

/** The collections of an API, page by page. */
function Collections({ address }: { readonly address: string }) {
  const pages = useInfiniteQuery({
    queryKey: ["collections", address],
    queryFn: ({ pageParam, signal }) => readJson<CollectionPage>(pageParam, { signal }),
    initialPageParam: address,
    getNextPageParam: (page) => linksOf(page, address, "next")[0]?.href,
  });
  const found = pages.data?.pages.flatMap(({ collections }) => collections) ?? [];
  const links = found.map((collection) => ({
    rel: "child",
    title: titleOf(collection),
    // A collection that says nothing of its own address has it by the API's rule.
    href: linksOf(collection, address, "self")[0]?.href ?? toAddress(`collections/${collection.id}`, address),
    description: collection.description,
  }));
  return (
    <Paged heading="Collections" pages={pages}>
      {links.length > 0 && <Children links={links} heading="" />}
    </Paged>
  );
}

interface PagedProps {
  readonly heading: string;
  readonly pages: {
    readonly isPending: boolean;
    readonly error: unknown;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
    readonly refetch: () => unknown;
  };
  readonly children: ReactNode;
}

function Paged({ heading, pages, children }: PagedProps) {
  return (
    <Stack gap="xs">
      <Title order={2}>{heading}</Title>
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isPending && <Loading />}
      {children}
      {pages.hasNextPage && (
        <Group>
          <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface ChildrenProps {
  readonly links: readonly (StacLink & { readonly description?: string | undefined })[];
  readonly heading?: string;
}

function Children({ links, heading = "Catalogues and collections" }: ChildrenProps) {
  return (
    <Stack gap="xs">
      {heading !== "" && <Title order={2}>{heading}</Title>}
      <Stack component="ul" gap="xs" m={0} p={0} aria-label={heading === "" ? "Collections" : heading}>
        {links.map((link) => (
          <Paper key={link.href} component="li" withBorder p="sm" style={{ listStyle: "none" }}>
            <Anchor component={Link} to={browsePath(link.href)} fw={600} style={{ overflowWrap: "anywhere" }}>
              {nameOf(link)}
            </Anchor>
            {link.description !== undefined && (
              <Text size="sm" c="dimmed" lineClamp={2}>
                {link.description}
              </Text>
            )}
          </Paper>
        ))}
      </Stack>
    </Stack>
  );
}

/** Items of an API's collection, page by page. */
function ApiItems({ address }: { readonly address: string }) {
  const pages = useInfiniteQuery({
    queryKey: ["items", address],
    queryFn: ({ pageParam, signal }) => readJson<ItemPage>(pageParam, { signal }),
    initialPageParam: address,
    getNextPageParam: (page) => linksOf(page, address, "next")[0]?.href,
  });
  const items = pages.data?.pages.flatMap(({ features }) => features) ?? [];
  return (
    <Paged heading="Items" pages={pages}>
      {pages.isSuccess && items.length === 0 ? (
        <Text c="dimmed">There are no items.</Text>
      ) : (
        <ItemList items={items.map((item) => ({ item, address }))} />
      )}
    </Paged>
  );
}

/** Items of a catalogue of files: each is a document of its own, some are read at a time. */
function StaticItems({ links }: { readonly links: readonly StacLink[] }) {
  const [count, setCount] = useState(STATIC_ITEMS);
  const shown = links.slice(0, count);
  const documents = useQueries({
    queries: shown.map(({ href }) => ({
      queryKey: ["document", href],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => readJson<StacItem>(href, { signal }),
    })),
  });
  const items = documents.flatMap(({ data }, index) =>
    data === undefined ? [] : [{ item: data, address: shown[index]?.href ?? "" }],
  );
  const failed = documents.find(({ error }) => error !== null)?.error;
  return (
    <Stack gap="xs">
      <Title order={2}>Items</Title>
      {failed !== undefined && <ErrorNote error={failed} />}
      {documents.some(({ isPending }) => isPending) && <Loading />}
      <ItemList items={items} />
      {count < links.length && (
        <Group>
          <Button variant="default" onClick={() => setCount(count + STATIC_ITEMS)}>
            Show more of {links.length}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
