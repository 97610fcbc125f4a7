import { Anchor, Breadcrumbs, Group, Stack, Tabs } from "@mantine/core";
import { Awaited, Page, RequestError, UsageBar } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { FolderLock, FolderOpen, KeyRound, Settings, Users } from "lucide-react";
import { Link, useLocation, useNavigate, useParams } from "react-router";

import { type Workspace, readWorkspace } from "../api/workspaces.ts";
import { Access } from "./access/access.tsx";
import { Files } from "./files/files.tsx";
import { Members } from "./members.tsx";
import { NotFound } from "../not-found.tsx";
import { NotFoundState } from "../not-found-state.tsx";
import { Provisioning } from "./provisioning.tsx";
import { WorkspaceSettings } from "./workspace-settings.tsx";
import { StatusBadge } from "./status-badge.tsx";

const PARTS = [
  { value: "files", label: "Files", icon: FolderOpen },
  { value: "access", label: "Access", icon: KeyRound },
  { value: "members", label: "Members", icon: Users },
  { value: "settings", label: "Settings", icon: Settings },
] as const;

/** One workspace: its files, keys, members and settings. */
export function Component() {
  const { name = "", part = "files" } = useParams();
  const navigate = useNavigate();
  const isNew = (useLocation().state as { readonly isNew?: boolean } | null)?.isNew === true;
  const workspace = useQuery({
    queryKey: ["workspace", name],
    queryFn: () => readWorkspace(name),
    refetchInterval: ({ state: { data, error } }) =>
      data?.status === "ready" ? 15_000 : isRefused(error) ? false : data === undefined ? 5000 : 1000,
    // Whose it is, is known a moment after it was made; until then its owner is refused as well.
    ...(isNew && { retry: (count, error) => count < 30 && isRefused(error), retryDelay: 1000 }),
  });
  if (!PARTS.some(({ value }) => value === part)) {
    return <NotFound />;
  }
  return (
    <Page
      title={name}
      above={
        <Breadcrumbs>
          <Anchor component={Link} to="/workspaces" size="sm">
            Workspaces
          </Anchor>
        </Breadcrumbs>
      }
      about={workspace.data && <About workspace={workspace.data} />}
      actions={workspace.data?.storage?.usage && <Usage workspace={workspace.data} />}
    >
      {isRefused(workspace.error) ? (
        <NotFoundState title="There is no such workspace" icon={FolderLock} to="/workspaces" label="Back to workspaces">
          Or it is somebody else's: its owner can let you in.
        </NotFoundState>
      ) : (
        <Awaited query={workspace} what={isNew ? `Making ${name}` : `Reading ${name}`}>
          {(found) =>
            found.status === "ready" ? (
              <Tabs
                value={part}
                onChange={(next) => void navigate(`../${next}`, { relative: "path" })}
                keepMounted={false}
              >
                <Tabs.List mb="md" aria-label="Parts of the workspace">
                  {PARTS.map(({ value, label, icon: Icon }) => (
                    <Tabs.Tab key={value} value={value} leftSection={<Icon size={16} aria-hidden />}>
                      {label}
                    </Tabs.Tab>
                  ))}
                </Tabs.List>
                <Tabs.Panel value="files">
                  <Files workspace={found} />
                </Tabs.Panel>
                <Tabs.Panel value="access">
                  <Access workspace={found} />
                </Tabs.Panel>
                <Tabs.Panel value="members">
                  <Members workspace={found} />
                </Tabs.Panel>
                <Tabs.Panel value="settings">
                  <WorkspaceSettings workspace={found} />
                </Tabs.Panel>
              </Tabs>
            ) : (
              <Provisioning workspace={found} />
            )
          }
        </Awaited>
      )}
    </Page>
  );
}

function isRefused(error: unknown): boolean {
  return error instanceof RequestError && (error.status === 403 || error.status === 404);
}

function About({ workspace: { owner, role, status } }: { readonly workspace: Workspace }) {
  return (
    <Group gap="sm">
      <StatusBadge status={status} />
      <span>
        Owner {owner}; you are {role}
      </span>
    </Group>
  );
}

function Usage({ workspace: { name, storage } }: { readonly workspace: Workspace }) {
  const usage = storage?.usage;
  if (usage === undefined || usage === null) {
    return null;
  }
  return (
    <Stack gap={0} w={220}>
      <UsageBar
        used={usage.bytes}
        limit={usage.quota_in_mb === undefined ? null : usage.quota_in_mb * 2 ** 20}
        label={`Storage used by ${name}`}
      />
    </Stack>
  );
}
