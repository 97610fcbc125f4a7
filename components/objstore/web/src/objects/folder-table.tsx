import { ActionIcon, Anchor, Group, Text, Tooltip } from "@mantine/core";
import { type Column, DataTable, RelativeTime, formatBytes } from "@swath/ui";
import { Download, File, FileImage, FileJson, FileText, Folder } from "lucide-react";
import { useMemo } from "react";
import { Link } from "react-router";

import { toFolder, toObject } from "../paths.ts";
import type { Entry } from "../s3/list.ts";
import { isReachable } from "../s3/sign.ts";
import { download } from "./download.ts";

interface FolderTableProps {
  readonly bucket: string;
  readonly label: string;
  readonly entries: readonly Entry[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (keys: ReadonlySet<string>) => void;
}

/** The entries of a folder. */
export function FolderTable({ bucket, label, entries, selected, onSelect }: FolderTableProps) {
  const columns = useMemo((): readonly Column<Entry>[] => {
    return [
      {
        key: "name",
        header: "Name",
        render: (entry) => <Name bucket={bucket} entry={entry} />,
        // Folders come first, whatever their names.
        sortBy: ({ name, isFolder }) => `${isFolder ? 0 : 1}${name}`,
      },
      {
        key: "size",
        header: "Size",
        width: "6.5rem",
        align: "end",
        render: ({ size, isFolder }) => (isFolder ? "" : formatBytes(size)),
        sortBy: ({ size, isFolder }) => (isFolder ? -1 : size),
      },
      {
        key: "modified",
        header: "Changed",
        width: "9.5rem",
        hideBelow: "sm",
        render: ({ modified, isFolder }) => (isFolder ? "" : <RelativeTime time={modified} />),
        sortBy: ({ modified }) => modified,
      },
      {
        key: "actions",
        header: "Actions",
        hideHeader: true,
        width: "3.5rem",
        align: "end",
        render: (entry) =>
          !entry.isFolder && isReachable(entry.key) ? (
            <Tooltip label="Download">
              <ActionIcon
                variant="subtle"
                color="gray"
                c="dimmed"
                aria-label={`Download ${entry.name}`}
                onClick={() => void download(bucket, entry.key)}
              >
                <Download size={16} aria-hidden />
              </ActionIcon>
            </Tooltip>
          ) : null,
      },
    ];
  }, [bucket]);
  return (
    <DataTable
      label={label}
      rows={entries}
      rowKey={({ key }) => key}
      rowLabel={({ name }) => name}
      columns={columns}
      selected={selected}
      onSelect={onSelect}
      initialSort={{ column: "name", direction: "ascending" }}
    />
  );
}

function Name({ bucket, entry: { key, name, isFolder } }: { readonly bucket: string; readonly entry: Entry }) {
  const to = isFolder ? toFolder(bucket, key) : toObject(bucket, key);
  return (
    <Group gap="xs" wrap="nowrap">
      <EntryIcon name={name} isFolder={isFolder} />
      {isFolder || isReachable(key) ? (
        <Anchor component={Link} to={to} c="inherit" size="sm" truncate title={name}>
          {name === "/" ? "(no name)/" : name}
        </Anchor>
      ) : (
        <Tooltip label="Browsers cannot ask for names with . or .. between slashes; other programs can.">
          <Text size="sm" c="dimmed" truncate>
            {name}
          </Text>
        </Tooltip>
      )}
    </Group>
  );
}

function EntryIcon({ name, isFolder }: Pick<Entry, "name" | "isFolder">) {
  const look = {
    size: 18,
    color: "var(--mantine-color-dimmed)",
    style: { flexShrink: 0 },
    "aria-hidden": true,
  } as const;
  if (isFolder) {
    return <Folder {...look} color="var(--swath-accent)" />;
  }
  if (/\.(?:tiff?|jp2|png|jpe?g|gif|webp|svg)$/i.test(name)) {
    return <FileImage {...look} />;
  }
  if (/\.(?:geo)?json$/i.test(name)) {
    return <FileJson {...look} />;
  }
  return /\.(?:txt|log|md|csv|ya?ml|cwl|xml|html?)$/i.test(name) ? <FileText {...look} /> : <File {...look} />;
}
