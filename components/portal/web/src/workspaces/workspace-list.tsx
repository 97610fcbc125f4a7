import { Anchor, Button } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, Page, RelativeTime } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { FolderOpen, Plus } from "lucide-react";
import { Link } from "react-router";

import { type WorkspaceSummary, listWorkspaces } from "../api/workspaces.ts";
import { usePortal } from "../session/portal.ts";
import { StatusBadge } from "./status-badge.tsx";

const COLUMNS: readonly Column<WorkspaceSummary>[] = [
  {
    key: "name",
    header: "Name",
    render: ({ name }) => (
      <Anchor component={Link} to={`/workspaces/${name}`}>
        {name}
      </Anchor>
    ),
    sortBy: ({ name }) => name,
  },
  { key: "owner", header: "Owner", render: ({ owner }) => owner, sortBy: ({ owner }) => owner, hideBelow: "sm" },
  { key: "role", header: "My role", render: ({ role }) => role, width: "110px", hideBelow: "sm" },
  {
    key: "status",
    header: "Status",
    render: ({ status }) => <StatusBadge status={status} />,
    sortBy: ({ status }) => status,
    width: "140px",
  },
  {
    key: "created",
    header: "Created",
    render: ({ created_at: time }) => <RelativeTime time={time} />,
    sortBy: ({ created_at: time }) => time,
    width: "150px",
    hideBelow: "md",
  },
];

/** Workspaces that somebody may enter; all of them for an administrator. */
export function Component() {
  const { user } = usePortal();
  const workspaces = useQuery({
    queryKey: ["workspaces"],
    queryFn: listWorkspaces,
    refetchInterval: ({ state: { data } }) =>
      data === undefined ? 5000 : data.every(({ status }) => status === "ready") ? 30_000 : 2000,
  });
  const create = user.mayCreateWorkspaces && (
    <Button component={Link} to="/workspaces/new" leftSection={<Plus size={16} aria-hidden />}>
      Create workspace
    </Button>
  );
  return (
    <Page
      title="Workspaces"
      about={user.isAdmin ? "Of everybody: you are an administrator" : "Yours, and those that others let you into"}
      actions={create}
    >
      <Awaited query={workspaces} what="Loading workspaces">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No workspace yet" icon={FolderOpen} action={create}>
              A workspace is a private space for data and results, with a quota and keys of its own.
              {!user.mayCreateWorkspaces && " Operators create workspaces here: ask one for yours."}
            </Empty>
          ) : (
            <DataTable
              label="Workspaces"
              rows={rows}
              rowKey={({ name }) => name}
              columns={COLUMNS}
              initialSort={{ column: "name", direction: "ascending" }}
            />
          )
        }
      </Awaited>
    </Page>
  );
}
