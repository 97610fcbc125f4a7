import { Badge, Table, Text } from "@mantine/core";

import { describeSchema } from "../model/form-fields.ts";
import type { ProcessDescription } from "../model/process-description.ts";

/** What a process takes and gives. */
export function Parameters({ inputs, outputs }: Pick<ProcessDescription, "inputs" | "outputs">) {
  return (
    <Table.ScrollContainer minWidth={420} type="native" tabIndex={0} role="region" aria-label="Inputs and outputs">
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>What it is</Table.Th>
            <Table.Th>Type</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(inputs).map(([name, { title, description, schema, minOccurs = 1 }]) => (
            <Table.Tr key={`in ${name}`}>
              <Table.Td>
                <code>{name}</code>{" "}
                {minOccurs > 0 && (
                  <Badge size="xs" variant="light">
                    needed
                  </Badge>
                )}
              </Table.Td>
              <Meaning title={title ?? name} description={description} />
              <Table.Td>
                {describeSchema(schema)}
                {schema.default !== undefined && (
                  <Text size="xs" c="dimmed">
                    else {JSON.stringify(schema.default)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
          {Object.entries(outputs).map(([name, { title, description, schema }]) => (
            <Table.Tr key={`out ${name}`}>
              <Table.Td>
                <code>{name}</code>{" "}
                <Badge size="xs" variant="light" color="blue">
                  output
                </Badge>
              </Table.Td>
              <Meaning title={title ?? name} description={description} />
              <Table.Td>{describeSchema(schema)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Meaning({ title, description }: { readonly title: string; readonly description: string | undefined }) {
  return (
    <Table.Td>
      {title}
      <Text size="xs" c="dimmed">
        {description}
      </Text>
    </Table.Td>
  );
}
