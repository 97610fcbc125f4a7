import { ActionIcon, Anchor, Button, Switch, Tooltip } from "@mantine/core";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  RelativeTime,
  notifyFailed,
  requestJson,
  useConfirm,
} from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2, Users } from "lucide-react";
import { useMemo, useState } from "react";

import { EditUser } from "./edit-user.tsx";
import type { User } from "./users.ts";

/** Users of this object store: those of programs, and of workspaces. People of the platform sign in by the platform. */
export function Component() {
  const client = useQueryClient();
  const confirm = useConfirm();
  const [edited, setEdited] = useState<User | "new">();
  const users = useQuery({
    queryKey: ["users"],
    queryFn: async () => (await requestJson<{ users: User[] }>("/api/users")).users,
  });
  const onSettled = async () => {
    await Promise.all([
      client.invalidateQueries({ queryKey: ["users"] }),
      client.invalidateQueries({ queryKey: ["access-keys"] }),
    ]);
  };
  const { mutate: enable } = useMutation({
    mutationFn: ({ name, policy, enabled }: User) =>
      requestJson(`/api/users/${encodeURIComponent(name)}`, { method: "PUT", body: { policy, enabled: !enabled } }),
    onError: (error) => notifyFailed("The user was not changed", error),
    onSettled,
  });
  const { mutate: remove } = useMutation({
    mutationFn: ({ name }: User) => requestJson(`/api/users/${encodeURIComponent(name)}`, { method: "DELETE" }),
    onError: (error) => notifyFailed("The user was not deleted", error),
    onSettled,
  });
  const columns = useMemo((): readonly Column<User>[] => {
    const askRemove = async (user: User) => {
      const isSure = await confirm({
        title: `Delete the user ${user.name}?`,
        body: "All access keys of the user are deleted with it; programs that sign in with them stop working. Buckets and objects stay.",
        action: "Delete the user",
        danger: true,
      });
      if (isSure) {
        remove(user);
      }
    };
    return [
      {
        key: "name",
        header: "User",
        render: (user) => (
          <Anchor component="button" type="button" size="sm" fw={500} onClick={() => setEdited(user)}>
            {user.name}
          </Anchor>
        ),
        sortBy: ({ name }) => name,
      },
      {
        key: "created",
        header: "Made",
        width: "9rem",
        hideBelow: "sm",
        render: ({ created }) => <RelativeTime time={created} />,
        sortBy: ({ created }) => created,
      },
      {
        key: "enabled",
        header: "On",
        width: "4rem",
        render: (user) => (
          <Switch
            size="sm"
            checked={user.enabled}
            aria-label={`${user.name} may sign in`}
            onChange={() => enable(user)}
          />
        ),
      },
      {
        key: "actions",
        header: "Actions",
        hideHeader: true,
        width: "3.5rem",
        align: "end",
        render: (user) => (
          <Tooltip label="Delete">
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={`Delete ${user.name}`}
              onClick={() => void askRemove(user)}
            >
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        ),
      },
    ];
  }, [confirm, enable, remove]);
  const create = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited("new")}>
      Create user
    </Button>
  );
  return (
    <Page
      title="Users"
      about="Service accounts of this object store. People of the platform are not here: they sign in with the platform login."
      actions={create}
    >
      <Awaited query={users} what="Loading users">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No users" icon={Users} action={create}>
              A user has a policy that says which buckets it may use, and access keys to sign in with.
            </Empty>
          ) : (
            <DataTable
              label="Users"
              rows={list}
              rowKey={({ name }) => name}
              columns={columns}
              initialSort={{ column: "name", direction: "ascending" }}
            />
          )
        }
      </Awaited>
      <EditUser key={edited === "new" ? "new" : edited?.name} user={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}
