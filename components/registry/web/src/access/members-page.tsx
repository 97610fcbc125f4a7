import { Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import {
  Awaited,
  type Column,
  DataTable,
  EditDialog,
  Empty,
  deleteColumn,
  notifyDone,
  useChange,
  useConfirm,
} from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Plus, Users } from "lucide-react";
import { useMemo, useState } from "react";

import { change, projectApi, usePages } from "../api.ts";
import { LoadMore } from "../load-more.tsx";
import { useThisProject } from "../projects/use-project.ts";
import { ROLES, rightsOf } from "../types.ts";

interface Member {
  readonly id: number;
  readonly entity_name: string;
  readonly entity_type: "u" | "g";
  readonly role_id: number;
}

/** Who may do what in the project. */
export function Component() {
  const project = useThisProject();
  const { isAdmin } = rightsOf(project);
  const confirm = useConfirm();
  const key = ["members", project.name];
  const members = usePages<Member>(key, projectApi(project.name, "/members"));
  const [isAdding, setAdding] = useState(false);
  const setRole = useChange<Member>({
    request: ({ id, role_id: role }) => change("PUT", projectApi(project.name, `/members/${id}`), { role_id: role }),
    failed: "The role was not changed",
    lists: ["members"],
  });
  const remove = useChange<Member>({
    request: ({ id }) => change("DELETE", projectApi(project.name, `/members/${id}`)),
    failed: "The member was not removed",
    lists: ["members"],
  });
  const columns = useMemo((): readonly Column<Member>[] => {
    const send = async (member: Member) => {
      const isSure = await confirm({
        title: `Remove ${member.entity_name}`,
        body: "They may do what everybody may from now on; tokens that were given end within five minutes.",
        action: "Remove the member",
        danger: true,
      });
      if (isSure) {
        remove(member);
      }
    };
    return [
      { key: "name", header: "Name", render: ({ entity_name: name }) => name, sortBy: ({ entity_name: name }) => name },
      {
        key: "kind",
        header: "Kind",
        width: "6rem",
        hideBelow: "sm",
        render: ({ entity_type: type }) => (type === "u" ? "user" : "group"),
      },
      {
        key: "role",
        header: "Role",
        width: "14rem",
        render: (member) =>
          isAdmin ? (
            <Select
              size="xs"
              aria-label={`Role of ${member.entity_name}`}
              data={[...ROLES]}
              value={String(member.role_id)}
              allowDeselect={false}
              onChange={(value) => value !== null && setRole({ ...member, role_id: Number(value) })}
            />
          ) : (
            ROLES.find(({ value }) => value === String(member.role_id))?.label
          ),
      },
      ...(isAdmin ? [deleteColumn<Member>(({ entity_name: name }) => name, send)] : []),
    ];
  }, [confirm, isAdmin, remove, setRole]);
  const add = isAdmin ? (
    <Button
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setAdding(true)}
      style={{ alignSelf: "flex-start" }}
    >
      Add a member
    </Button>
  ) : undefined;
  return (
    <Awaited query={members} what="Loading members">
      {() => (
        <>
          {members.rows.length === 0 ? (
            <Empty title="No members" icon={Users} action={add}>
              Members are users, groups and roles of the identity service.
            </Empty>
          ) : (
            <>
              {add}
              <DataTable
                label="Members"
                rows={members.rows}
                rowKey={({ id }) => String(id)}
                columns={columns}
                rowHeight={52}
                initialSort={{ column: "name", direction: "ascending" }}
              />
              <LoadMore list={members} />
            </>
          )}
          {isAdding && <AddMember project={project.name} onClose={() => setAdding(false)} />}
        </>
      )}
    </Awaited>
  );
}

function AddMember({ project, onClose }: { readonly project: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [kind, setKind] = useState("user");
  const [name, setName] = useState("");
  const [role, setRole] = useState("3");
  const save = useMutation({
    mutationFn: () =>
      change("POST", projectApi(project, "/members"), {
        role_id: Number(role),
        ...(kind === "user"
          ? { member_user: { username: name.trim() } }
          : { member_group: { group_name: name.trim() } }),
      }),
    onSuccess: async () => {
      notifyDone(`${name} is a member.`);
      await client.invalidateQueries({ queryKey: ["members"] });
      onClose();
    },
  });
  return (
    <EditDialog
      opened
      onClose={onClose}
      title="Add a member"
      save={{ mutate: () => save.mutate(), error: save.error, isPending: save.isPending }}
      isReady={name.trim() !== ""}
    >
      <SegmentedControl
        aria-label="Kind"
        value={kind}
        onChange={setKind}
        data={[
          { value: "user", label: "User" },
          { value: "group", label: "Group or role" },
        ]}
      />
      <TextInput
        label="Name"
        description="As the identity service has it."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        required
        data-autofocus
      />
      <Select
        label="Role"
        data={[...ROLES]}
        value={role}
        allowDeselect={false}
        onChange={(value) => setRole(value ?? "3")}
      />
    </EditDialog>
  );
}
