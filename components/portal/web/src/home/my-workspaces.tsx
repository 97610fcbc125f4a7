import { Anchor, Button, Card, Group, Stack, Text } from "@mantine/core";
import { Awaited, Empty, UsageBar } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { FolderOpen } from "lucide-react";
import { Link } from "react-router";

import { type WorkspaceSummary, listWorkspaces, readWorkspace } from "../api/workspaces.ts";
import { usePortal } from "../session/portal.ts";
import { StatusBadge } from "../workspaces/status-badge.tsx";
import { Section } from "./section.tsx";

const MAX_SHOWN = 3;

/** The workspaces of who is logged in, not all that an administrator may see. */
export function MyWorkspaces() {
  const { user } = usePortal();
  const workspaces = useQuery({
    queryKey: ["workspaces"],
    queryFn: listWorkspaces,
    refetchInterval: ({ state: { error } }) => (error === null ? 60_000 : 5000),
  });
  return (
    <Section
      title="My workspace"
      aside={
        <Anchor component={Link} to="/workspaces" size="sm">
          All workspaces
        </Anchor>
      }
    >
      <Awaited query={workspaces} what="Loading workspaces">
        {(all) => {
          const mine = all.filter(({ owner }) => owner === user.username);
          // An administrator sees all workspaces and is a member of few: those are no news.
          const shared = user.isAdmin ? [] : all.filter(({ owner }) => owner !== user.username);
          const own =
            mine.length === 0 ? (
              <Empty
                compact
                title="No workspace yet"
                icon={FolderOpen}
                {...(user.mayCreateWorkspaces && {
                  action: (
                    <Button component={Link} to="/workspaces/new">
                      Create my workspace
                    </Button>
                  ),
                })}
              >
                A private space for your data and for what your jobs make.
                {!user.mayCreateWorkspaces && " Operators create workspaces here: ask one for yours."}
              </Empty>
            ) : (
              <Stack gap="sm">
                {mine.slice(0, MAX_SHOWN).map(({ name }) => (
                  <WorkspaceCard key={name} name={name} />
                ))}
              </Stack>
            );
          return (
            <Stack gap="sm">
              {own}
              {shared.length > 0 && <SharedWithMe workspaces={shared} />}
            </Stack>
          );
        }}
      </Awaited>
    </Section>
  );
}

function SharedWithMe({ workspaces }: { readonly workspaces: readonly WorkspaceSummary[] }) {
  return (
    <Card withBorder padding="md">
      <Text fw={600} size="sm" mb={4}>
        Shared with me
      </Text>
      <Stack gap={2} component="ul" p={0} m={0} aria-label="Shared with me">
        {workspaces.map(({ name, owner, role }) => (
          <Group key={name} component="li" gap="xs" justify="space-between" style={{ listStyle: "none" }}>
            <Anchor component={Link} to={`/workspaces/${name}`} mih={24}>
              {name}
            </Anchor>
            <Text size="xs" c="dimmed">
              by {owner}, {role === "writer" ? "read and write" : "read"}
            </Text>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}

function WorkspaceCard({ name }: { readonly name: string }) {
  const workspace = useQuery({
    queryKey: ["workspace", name],
    queryFn: () => readWorkspace(name),
    refetchInterval: ({ state: { data } }) => (data?.status === "ready" ? 30_000 : data === undefined ? 5000 : 1500),
  });
  return (
    <Card withBorder padding="md">
      <Stack gap="xs">
        <Group justify="space-between">
          <Anchor component={Link} to={`/workspaces/${name}`} fw={600}>
            {name}
          </Anchor>
          {workspace.data && <StatusBadge status={workspace.data.status} />}
        </Group>
        <Awaited query={workspace} what={`Reading ${name}`}>
          {({ storage, status_reason: reason }) => (
            <>
              {reason !== undefined && <Text size="sm">{reason}</Text>}
              {storage !== null && storage.usage !== null && (
                <UsageBar
                  used={storage.usage.bytes}
                  limit={storage.usage.quota_in_mb === undefined ? null : storage.usage.quota_in_mb * 2 ** 20}
                  label={`Storage used by ${name}`}
                />
              )}
            </>
          )}
        </Awaited>
      </Stack>
    </Card>
  );
}
