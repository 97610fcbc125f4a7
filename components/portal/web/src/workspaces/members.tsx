import { ActionIcon, Button, Group, NativeSelect, Paper, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { ErrorNote, notifyDone } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, useState } from "react";

import { type Role, type Workspace, changeWorkspace } from "../api/workspaces.ts";

const ROLES = [
  { value: "reader", label: "Read" },
  { value: "writer", label: "Write" },
];

type Member = Workspace["members"][number];

/** The members of a workspace and their access. */
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
    change.mutate({ next, said: `${added} was added to ${name}.` });
  };
  const setRole = (member: Member, next: Role) =>
    change.mutate({
      next: others.map((other) => (other === member ? { ...other, role: next } : other)),
      said: `${member.username} now has ${next === "writer" ? "write" : "read"} access.`,
    });
  const remove = (member: Member) =>
    change.mutate({
      next: others.filter((other) => other !== member),
      said: `${member.username} was removed from ${name}.`,
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
                    (ROLES.find(({ value }) => value === member.role)?.label ?? member.role)
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
            No other members.
          </Text>
        )}
      </Paper>
      {isOwner && (
        <Paper withBorder p="lg" maw={560}>
          <Title order={2} mb="sm">
            Add member
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
                  Add
                </Button>
              </Group>
            </Stack>
          </form>
        </Paper>
      )}
    </Stack>
  );
}
