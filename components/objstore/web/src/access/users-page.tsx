import { Anchor, Button } from "@mantine/core";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  deleteColumn,
  madeColumn,
  requestJson,
  switchColumn,
  useChange,
  useConfirm,
} from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Plus, Users } from "lucide-react";
import { useMemo, useState } from "react";

import { EditUser } from "./edit-user.tsx";
import { type User, userApi } from "./users.ts";

/** Users of this object store: those of programs, and of workspaces. People of the platform log in by the platform. */
export function Component() {
  const confirm = useConfirm();
  const [edited, setEdited] = useState<User | "new">();
  const users = useQuery({
    queryKey: ["users"],
    queryFn: async () => (await requestJson<{ users: User[] }>("/api/users")).users,
  });
  const lists = ["users", "access-keys"];
  const enable = useChange<User>({
    request: ({ name, policy, enabled }) =>
      requestJson(userApi(name), { method: "PUT", body: { policy, enabled: !enabled } }),
    failed: "The user was not changed",
    lists,
  });
  const remove = useChange<User>({
    request: ({ name }) => requestJson(userApi(name), { method: "DELETE" }),
    failed: "The user was not deleted",
    lists,
  });
  const columns = useMemo((): readonly Column<User>[] => {
    const callRemove = async (user: User) => {
      const isSure = await confirm({
        title: `Delete the user ${user.name}?`,
        body: "All access keys of the user are deleted with it; programs that log in with them stop working. Buckets and objects stay.",
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
      madeColumn(),
      switchColumn(({ name }) => `${name} may log in`, enable),
      deleteColumn(({ name }) => name, callRemove),
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
      about="Service accounts of this object store. People of the platform are not here: they log in with the platform login."
      actions={create}
    >
      <Awaited query={users} what="Loading users">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No users" icon={Users} action={create}>
              A user has a policy that says which buckets it may use, and access keys to log in with.
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
