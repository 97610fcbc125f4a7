import { ActionIcon, Button, Group, NativeSelect, Paper, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { ErrorNote, notifyDone } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, useState } from "react";

import { type Role, type Workspace, changeWorkspace } from "../api/workspaces.ts";

const ROLES = [
  { value: "reader", label: "may read" },
  { value: "writer", label: "may read and write" },
];

type Member = Workspace["members"][number];

/** Who may enter a workspace, and what they may do. */
export function Members({ workspace: { name, members, role, owner } }: { readonly workspace: Workspace }) {
  const client = useQueryClient();
  const [username, setUsername] = useState("");
  const [chosen, setChosen] = useState<Role>("reader");
  const others = members.filter((member) => member.role !== "owner");
  const change = useMutation({
    mutationFn: ({ next }: { next: readonly Member[]; said: string }) => changeWorkspace(name, { members: next }),
    onSuccess: async (_, { said }) => {
      setUsername("");
      notifyDone(said);
      await client.invalidateQueries({ queryKey: ["workspace", name] });
    },
  });
  const isOwner = role === "owner";
  const add = (event: FormEvent) => {
    event.preventDefault();
    const added = username.trim();
    const next = [...others.filter((member) => member.username !== added), { username: added, role: chosen }];
    change.mutate({ next, said: `${added} may enter ${name}.` });
  };
  const setRole = (member: Member, next: Role) =>
    change.mutate({
      next: others.map((other) => (other === member ? { ...other, role: next } : other)),
      said: `${member.username} is ${next} now.`,
    });
  const remove = (member: Member) =>
    change.mutate({
      next: others.filter((other) => other !== member),
      said: `${member.username} may enter ${name} no more.`,
    });
  return (
    <Stack gap="lg">
      {change.error && <ErrorNote error={change.error} title="The members were not changed" />}
      <Paper withBorder p="lg">
        <Table aria-label={`Members of ${name}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">User</Table.Th>
              <Table.Th scope="col">Role</Table.Th>
              {isOwner && <Table.Th scope="col" aria-label="Remove" w={50} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Table.Tr>
              <Table.Td>{owner}</Table.Td>
              <Table.Td>owner</Table.Td>
              {isOwner && <Table.Td />}
            </Table.Tr>
            {others.map((member) => (
              <Table.Tr key={member.username}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{member.username}</Table.Td>
                <Table.Td>
                  {isOwner ? (
                    <NativeSelect
                      aria-label={`Role of ${member.username}`}
                      data={ROLES}
                      value={member.role}
                      disabled={change.isPending}
                      onChange={(event) => setRole(member, event.currentTarget.value as Role)}
                    />
                  ) : (
                    member.role
                  )}
                </Table.Td>
                {isOwner && (
                  <Table.Td>
                    <ActionIcon
                      variant="subtle"
                      color="red"
                      disabled={change.isPending}
                      onClick={() => remove(member)}
                      aria-label={`Remove ${member.username}`}
                    >
                      <X size={16} aria-hidden />
                    </ActionIcon>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {others.length === 0 && (
          <Text size="sm" c="dimmed" mt="sm">
            Nobody else may enter this workspace.
          </Text>
        )}
      </Paper>
      {isOwner && (
        <Paper withBorder p="lg" maw={560}>
          <Title order={2} mb="sm">
            Let somebody in
          </Title>
          <form onSubmit={add}>
            <Stack>
              <TextInput
                label="User name"
                value={username}
                onChange={(event) => setUsername(event.currentTarget.value)}
                required
                maxLength={255}
                autoComplete="off"
                spellCheck={false}
              />
              <NativeSelect
                label="Role"
                data={ROLES}
                value={chosen}
                onChange={(event) => setChosen(event.currentTarget.value as Role)}
              />
              <Group justify="flex-end">
                <Button type="submit" loading={change.isPending}>
                  Let in
                </Button>
              </Group>
            </Stack>
          </form>
        </Paper>
      )}
    </Stack>
  );
}
