import { Anchor, Button, Text } from "@mantine/core";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  deleteColumn,
  madeColumn,
  requestJson,
  useChange,
  useConfirm,
} from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { IdCard, Plus } from "lucide-react";
import { useMemo, useState } from "react";

import { EditRole } from "./edit-role.tsx";
import { type Role, roleApi } from "./users.ts";

/** What people of the platform may do here: temporary rights for whoever holds a token that fits. */
export function Component() {
  const confirm = useConfirm();
  const [edited, setEdited] = useState<Role | "new">();
  const roles = useQuery({
    queryKey: ["roles"],
    queryFn: async () => (await requestJson<{ roles: Role[] }>("/api/roles")).roles,
  });
  const remove = useChange<Role>({
    request: ({ name }) => requestJson(roleApi(name), { method: "DELETE" }),
    failed: "The role was not deleted",
    lists: ["roles"],
  });
  const columns = useMemo((): readonly Column<Role>[] => {
    const callRemove = async (role: Role) => {
      const isSure = await confirm({
        title: `Delete the role ${role.name}?`,
        body: "Whoever has rights by this role alone loses them at once, also those who are logged in.",
        action: "Delete the role",
        danger: true,
      });
      if (isSure) {
        remove(role);
      }
    };
    return [
      {
        key: "name",
        header: "Role",
        render: (role) => (
          <Anchor component="button" type="button" size="sm" fw={500} onClick={() => setEdited(role)}>
            {role.name}
          </Anchor>
        ),
        sortBy: ({ name }) => name,
      },
      {
        key: "who",
        header: "Who has it",
        hideBelow: "sm",
        render: (role) => (
          <Text size="sm" truncate>
            {describeWho(role)}
          </Text>
        ),
      },
      madeColumn(),
      deleteColumn(({ name }) => name, callRemove),
    ];
  }, [confirm, remove]);
  const create = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited("new")}>
      Create role
    </Button>
  );
  return (
    <Page
      title="Roles"
      about="What people who log in with the platform login may do here, and programs that bring a token of it."
      actions={create}
    >
      <Awaited query={roles} what="Loading roles">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No roles" icon={IdCard} action={create}>
              A role has a policy, and says which people get its rights. Without any, the platform login opens nothing.
            </Empty>
          ) : (
            <DataTable
              label="Roles"
              rows={list}
              rowKey={({ name }) => name}
              columns={columns}
              initialSort={{ column: "name", direction: "ascending" }}
            />
          )
        }
      </Awaited>
      <EditRole key={edited === "new" ? "new" : edited?.name} role={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}

function describeWho({ claim, values }: Role): string {
  return claim === null ? "everybody with the platform login" : `${claim} is ${values.join(" or ")}`;
}
