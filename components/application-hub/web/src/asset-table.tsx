import { ActionIcon, Badge, Group, Paper, Table, Text, Title } from "@mantine/core";
import { CopyButton, formatBytes, notifyFailed } from "@swath/ui";
import { Download } from "lucide-react";
import { useState } from "react";

import { download } from "./platform.ts";
import { type StacAsset, toAddress } from "./stac.ts";

interface AssetTableProps {
  readonly assets: Readonly<Record<string, StacAsset>>;
  /** The document that names them. */
  readonly address: string;
}

/** The files of an item or a collection. */
export function AssetTable({ assets, address }: AssetTableProps) {
  const entries = Object.entries(assets);
  return entries.length === 0 ? null : (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Assets
      </Title>
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label="Assets">
          <Table.Tbody>
            {entries.map(([key, asset]) => (
              <Row key={key} name={key} asset={asset} address={toAddress(asset.href, address)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

interface RowProps {
  readonly name: string;
  readonly asset: StacAsset;
  readonly address: string;
}

function Row({ name, asset, address }: RowProps) {
  const { title = name, description, type, roles = [], "file:size": size } = asset;
  const [isLoading, setLoading] = useState(false);
  const get = async () => {
    setLoading(true);
    try {
      await download(address);
    } catch (error) {
      notifyFailed(`${title} was not downloaded`, error);
    } finally {
      setLoading(false);
    }
  };
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
          <ActionIcon variant="subtle" aria-label={`Download ${title}`} loading={isLoading} onClick={() => void get()}>
            <Download size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
