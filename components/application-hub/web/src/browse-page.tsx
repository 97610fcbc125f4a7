import { Anchor, Breadcrumbs, Text } from "@mantine/core";
import { Awaited, CopyButton, Page } from "@swath/ui";
import { titleOf } from "@swath/ui/stac";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";

import { ContainerView } from "./container-view.tsx";
import { ItemList } from "./item-list.tsx";
import { ItemView } from "./item-view.tsx";
import { OpenAddress } from "./open-address.tsx";
import { browsePath } from "./paths.ts";
import { findCatalogue, readJson } from "./platform.ts";
import { type StacDocument, linksOf, toDocument } from "./stac.ts";

/** A catalogue, collection or item, by its address; without one the platform's catalogue. */
export function Component() {
  const provided = useSearchParams()[0].get("href") ?? undefined;
  const start = useQuery({ queryKey: ["catalogue"], queryFn: findCatalogue, enabled: provided === undefined });
  const address = provided ?? start.data;
  const document = useQuery({
    queryKey: ["document", address],
    queryFn: async ({ signal }) => toDocument(await readJson(address ?? "", { signal }), address ?? ""),
    enabled: address !== undefined,
  });
  const title =
    document.data === undefined
      ? "STAC browser"
      : document.data.type === "FeatureCollection"
        ? "Items"
        : titleOf(document.data);
  return (
    <Page
      title={title}
      above={document.data !== undefined && <Trail document={document.data} address={address ?? ""} />}
      actions={address !== undefined && <CopyButton value={address} label="Copy the STAC address" labelled />}
    >
      <OpenAddress key={address} address={address ?? ""} />
      {address === undefined && start.isSuccess ? (
        <Text>This platform has no catalogue of its own. Open the address of another one.</Text>
      ) : address === undefined ? (
        <Awaited query={start} what="Looking for the catalogue">
          {() => null}
        </Awaited>
      ) : (
        <Awaited query={document} what="Loading the document">
          {(found) => <Shown document={found} address={address} />}
        </Awaited>
      )}
    </Page>
  );
}

function Shown({ document, address }: { readonly document: StacDocument; readonly address: string }) {
  switch (document.type) {
    case "Feature":
      return <ItemView item={document} address={address} />;
    case "FeatureCollection":
      return <ItemList items={document.features.map((item) => ({ item, address }))} />;
    default:
      return <ContainerView container={document} address={address} />;
  }
}

/** Root, parent, and what is open. */
function Trail({ document, address }: { readonly document: StacDocument; readonly address: string }) {
  const seen = new Set([address]);
  const above = linksOf(document, address, "root", "parent", "collection")
    .toSorted((a, b) => Number(b.rel === "root") - Number(a.rel === "root"))
    .filter(({ href }) => !seen.has(href) && seen.add(href));
  return (
    <nav aria-label="Where this page is">
      <Breadcrumbs separatorMargin="xs">
        {above.map(({ rel, href, title }) => (
          <Anchor key={href} component={Link} to={browsePath(href)} size="sm">
            {title ?? { root: "Catalogue", parent: "Parent" }[rel] ?? "Collection"}
          </Anchor>
        ))}
        <Text size="sm" c="dimmed">
          {"id" in document ? document.id : "Items"}
        </Text>
      </Breadcrumbs>
    </nav>
  );
}
