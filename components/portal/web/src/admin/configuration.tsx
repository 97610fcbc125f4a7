import { Stack, Switch, Table, Text, TextInput, Title } from "@mantine/core";
import { Awaited, Empty } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type Setting, readConfiguration } from "../api/admin.ts";
import { groupSettings } from "./group-settings.ts";

/** The variables the platform was deployed with, and where each value comes from. */
export function Component() {
  const configuration = useQuery({ queryKey: ["configuration"], queryFn: readConfiguration, staleTime: 60_000 });
  const [requested, setWanted] = useState("");
  const [isGivenOnly, setGivenOnly] = useState(false);
  return (
    <Stack>
      <Text c="dimmed" size="sm">
        Values are changed where the platform is deployed: set the variable and apply again. Secrets are not shown here;
        <code> swath credentials</code> shows them to the operator.
      </Text>
      <TextInput
        label="Find a variable"
        value={requested}
        onChange={(event) => setWanted(event.currentTarget.value)}
        maw={360}
      />
      <Switch
        label="Only explicitly set values"
        checked={isGivenOnly}
        onChange={(event) => setGivenOnly(event.currentTarget.checked)}
      />
      <Awaited query={configuration} what="Loading the configuration">
        {(settings) => {
          const groups = groupSettings(settings, { requested, isGivenOnly });
          return groups.length === 0 ? (
            <Empty title="Nothing found">No variable has that in its name or value.</Empty>
          ) : (
            groups.map(({ title, settings: found }) => <Group key={title} title={title} settings={found} />)
          );
        }}
      </Awaited>
    </Stack>
  );
}

function Group({ title, settings }: { readonly title: string; readonly settings: readonly Setting[] }) {
  return (
    <section>
      <Title order={2} size="h3" mb="xs">
        {title}
      </Title>
      <Table.ScrollContainer minWidth={640} scrollAreaProps={{ tabIndex: 0 }} type="native">
        <Table aria-label={title} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col" w="38%">
                Variable
              </Table.Th>
              <Table.Th scope="col">Value</Table.Th>
              <Table.Th scope="col" w="30%">
                From
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {settings.map(({ name, value, origin }) => (
              <Table.Tr key={name}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  <Text ff="monospace" size="sm">
                    {name}
                  </Text>
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{value === null ? "(none)" : String(value)}</Table.Td>
                <Table.Td>
                  <Text size="sm" c="dimmed">
                    {origin}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}
