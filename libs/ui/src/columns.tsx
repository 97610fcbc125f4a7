import { ActionIcon, Switch, Tooltip } from "@mantine/core";
import { Trash2 } from "lucide-react";

import type { Column } from "./data-table.tsx";
import { RelativeTime } from "./time.tsx";

// Columns that tables of the consoles have alike.

export function madeColumn<Row extends { readonly created: string }>(): Column<Row> {
  return {
    key: "created",
    header: "Created",
    width: "9rem",
    hideBelow: "sm",
    render: ({ created }) => <RelativeTime time={created} />,
    sortBy: ({ created }) => created,
  };
}

/** A switch in every row; `label` says what it means. */
export function switchColumn<Row extends { readonly enabled: boolean }>(
  label: (row: Row) => string,
  onChange: (row: Row) => void,
): Column<Row> {
  return {
    key: "enabled",
    header: "On",
    width: "4rem",
    render: (row) => <Switch size="sm" checked={row.enabled} aria-label={label(row)} onChange={() => onChange(row)} />,
  };
}

/** A button in every row that deletes what the row is of. */
export function deleteColumn<Row>(nameOf: (row: Row) => string, onDelete: (row: Row) => Promise<void>): Column<Row> {
  return {
    key: "actions",
    header: "Actions",
    hideHeader: true,
    width: "3.5rem",
    align: "end",
    render: (row) => (
      <Tooltip label="Delete">
        <ActionIcon
          variant="subtle"
          color="red"
          aria-label={`Delete ${nameOf(row)}`}
          onClick={() => void onDelete(row)}
        >
          <Trash2 size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    ),
  };
}
