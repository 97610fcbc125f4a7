import { Paper, Table } from "@mantine/core";

/** Plain values that a job gave. */
export function OutputValues({ outputs }: { readonly outputs: Readonly<Record<string, unknown>> }) {
  return (
    <Paper withBorder p="sm">
      <Table verticalSpacing="xs">
        <Table.Tbody>
          {Object.entries(outputs).map(([name, output]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w="30%">
                {name}
              </Table.Th>
              <Table.Td>
                <pre style={{ margin: 0, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{toText(output)}</pre>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

function toText(output: unknown): string {
  const value = typeof output === "object" && output !== null && "value" in output ? output.value : output;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
