import { Anchor, Button, Text } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, Page } from "@swath/ui";
import type { StacContainer } from "@swath/ui/stac";
import { useQuery } from "@tanstack/react-query";
import { Layers, Plus } from "lucide-react";
import { Link } from "react-router";

import { collectionsQuery } from "../api/catalogue.ts";
import { permissionsQuery } from "../api/edit.ts";
import { collectionPath } from "../model/stac.ts";
import { Sections } from "../parts/sections.tsx";

/** All collections that the user may read. */
export function Component() {
  const collections = useQuery(collectionsQuery());
  const { data: allowed } = useQuery(permissionsQuery());
  const mayCreate = allowed?.isOperator === true || allowed?.workspaces.some(({ role }) => role !== "reader") === true;
  return (
    <Page
      title="Catalogue"
      name="Collections"
      about="Scenes, results and services of the platform."
      actions={
        mayCreate && (
          <Button component={Link} to="/catalogue/new-collection" leftSection={<Plus size={16} aria-hidden />}>
            New collection
          </Button>
        )
      }
    >
      <Sections current="collections" />
      <Awaited query={collections} what="Loading collections">
        {(found) =>
          found.length === 0 ? (
            <Empty title="No collections" icon={Layers}>
              Collections appear here when they are registered or harvested.
            </Empty>
          ) : (
            <DataTable
              label="Collections"
              rows={found}
              rowKey={({ id }) => id}
              columns={COLUMNS}
              rowHeight={56}
              initialSort={{ column: "title", direction: "ascending" }}
            />
          )
        }
      </Awaited>
    </Page>
  );
}

const COLUMNS: readonly Column<StacContainer>[] = [
  {
    key: "title",
    header: "Title",
    sortBy: ({ title, id }) => title ?? id,
    render: ({ id, title }) => (
      <Anchor component={Link} to={collectionPath(id)} fw={600} truncate>
        {title ?? id}
      </Anchor>
    ),
  },
  {
    key: "description",
    header: "Description",
    hideBelow: "sm",
    width: "50%",
    render: ({ description }) => (
      <Text size="sm" c="dimmed" lineClamp={2}>
        {description}
      </Text>
    ),
  },
  {
    key: "time",
    header: "Time",
    hideBelow: "md",
    width: "13rem",
    render: ({ extent }) => {
      const [from, to] = extent?.temporal?.interval?.[0] ?? [];
      return `${from?.slice(0, 10) ?? "…"} to ${to?.slice(0, 10) ?? "now"}`;
    },
  },
];
