import { Badge, Group, Paper, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

import { CopyButton } from "../copy-button.tsx";
import { formatBytes } from "../format.ts";
import type { StacAsset } from "./documents.ts";

interface AssetTableProps {
  readonly assets: Readonly<Record<string, StacAsset>>;
  /** What is copied of an asset: its address as it is written, where this is left out. */
  readonly addressOf?: (asset: StacAsset) => string;
  /** What the page offers to do with an asset. */
  readonly renderDownload: (asset: StacAsset, title: string) => ReactNode;
}

/** The files of an item or a collection. */
export function AssetTable({ assets, addressOf = ({ href }) => href, renderDownload }: AssetTableProps) {
  const entries = Object.entries(assets);
  return entries.length === 0 ? null : (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Assets
      </Title>
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label="Assets">
          <Table.Tbody>
            {entries.map(([key, asset]) => {
              const { title = key } = asset;
              return (
                <Row key={key} title={title} asset={asset} address={addressOf(asset)}>
                  {renderDownload(asset, title)}
                </Row>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

interface RowProps {
  readonly title: string;
  readonly asset: StacAsset;
  readonly address: string;
  readonly children: ReactNode;
}

function Row({ title, asset, address, children }: RowProps) {
  const { description, type, roles = [], "file:size": size } = asset;
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
          <CopyButton value={address} label={`Copy the address of ${title}`} />
          {children}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
