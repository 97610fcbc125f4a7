import { Paper, Table, Text, Title } from "@mantine/core";

import { type StacItem, listProperties } from "./documents.ts";

/** The properties of an item. */
export function PropertyTable({ item }: { readonly item: StacItem }) {
  const properties = listProperties(item);
  return properties.length === 0 ? null : (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Properties
      </Title>
      <Table aria-label="Properties" withRowBorders={false}>
        <Table.Tbody>
          {properties.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                  {name}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {value}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
