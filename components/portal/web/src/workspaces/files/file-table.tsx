import { ActionIcon, Anchor, Button, Group, Text, Tooltip } from "@mantine/core";
import { type Column, DataTable, RelativeTime, formatBytes } from "@swath/ui";
import { Download, File, Folder } from "lucide-react";
import { useMemo } from "react";

import { fileUrl } from "../../api/files.ts";
import type { Row } from "./rows.ts";

interface FileTableProps {
  readonly workspace: string;
  readonly prefix: string;
  readonly rows: readonly Row[];
  readonly selected: ReadonlySet<string>;
  /** Left out for those who may not write. */
  readonly onSelect: ((keys: ReadonlySet<string>) => void) | undefined;
  readonly onOpen: (prefix: string) => void;
  readonly onShow: (key: string) => void;
  readonly more: { readonly load: () => void; readonly isLoading: boolean } | undefined;
}

/** Long names are cut, never the sign before them. */
const ICON = { style: { flexShrink: 0 }, "aria-hidden": true } as const;

/** What is in a folder. */
export function FileTable({ workspace, prefix, rows, selected, onSelect, onOpen, onShow, more }: FileTableProps) {
  const columns = useMemo<readonly Column<Row>[]>(
    () => [
      {
        key: "name",
        header: "Name",
        sortBy: ({ name, isFolder }) => `${isFolder ? "0" : "1"}${name}`,
        render: (row) => (
          <Group gap="xs" wrap="nowrap">
            {row.isFolder ? <Folder size={18} {...ICON} /> : <File size={18} {...ICON} />}
            <Anchor
              component="button"
              type="button"
              onClick={() => (row.isFolder ? onOpen(row.key) : onShow(row.key))}
              ta="start"
              title={row.name}
              truncate
            >
              {row.name}
              {row.isFolder && "/"}
            </Anchor>
          </Group>
        ),
      },
      {
        key: "size",
        header: "Size",
        width: "110px",
        align: "end",
        hideBelow: "sm",
        sortBy: ({ size }) => size ?? -1,
        render: ({ size }) => (size === undefined ? "" : formatBytes(size)),
      },
      {
        key: "modified",
        header: "Changed",
        width: "150px",
        hideBelow: "sm",
        sortBy: ({ modified }) => modified ?? "",
        render: ({ modified }) => (modified === undefined ? "" : <RelativeTime time={modified} />),
      },
      {
        key: "download",
        header: "Download",
        hideHeader: true,
        width: "56px",
        align: "end",
        render: ({ key, name, isFolder }) =>
          isFolder ? null : (
            <Tooltip label="Download">
              <ActionIcon
                component="a"
                href={fileUrl(workspace, key, { download: true })}
                download={name}
                variant="subtle"
                color="gray"
                aria-label={`Download ${name}`}
              >
                <Download size={16} aria-hidden />
              </ActionIcon>
            </Tooltip>
          ),
      },
    ],
    [workspace, onOpen, onShow],
  );
  return (
    <DataTable
      label={`Files in ${prefix === "" ? workspace : prefix}`}
      rows={rows}
      rowKey={({ key }) => key}
      rowLabel={({ name }) => name}
      columns={columns}
      initialSort={{ column: "name", direction: "ascending" }}
      selected={selected}
      {...(onSelect && { onSelect })}
      footer={
        more && (
          <Group justify="center" p="xs">
            <Button variant="default" size="xs" onClick={more.load} loading={more.isLoading}>
              Show more
            </Button>
            <Text size="sm" c="dimmed">
              {rows.length} are shown; there are more
            </Text>
          </Group>
        )
      }
    />
  );
}
