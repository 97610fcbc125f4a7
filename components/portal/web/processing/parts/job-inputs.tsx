import { Anchor, Button, Group, Paper, Table, Text } from "@mantine/core";
import { Awaited, CopyButton } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { Link } from "react-router";

import { toFileUrl } from "../../src/api/files.ts";
import type { Job } from "../api/processing-client.ts";
import { inputsQuery, useProcessing } from "../api/processing.ts";

/** What a job was given. */
export function JobInputs({ job: { jobID, processID } }: { readonly job: Job }) {
  const inputs = useQuery(inputsQuery(useProcessing(), jobID));
  return (
    <Awaited query={inputs} what="Reading what the job was given">
      {(provided) => (
        <>
          <Paper withBorder p="sm">
            {Object.keys(provided).length === 0 && (
              <Text c="dimmed">Nothing was given; every input had its default.</Text>
            )}
            <Table verticalSpacing="xs">
              <Table.Tbody>
                {Object.entries(provided).map(([name, value]) => (
                  <Table.Tr key={name}>
                    <Table.Th scope="row" w="30%">
                      {name}
                    </Table.Th>
                    <Table.Td style={{ overflowWrap: "anywhere" }}>
                      <InputValue value={value} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Paper>
          <Group mt="sm">
            <Button
              component={Link}
              to={`/processing/processes/${encodeURIComponent(processID)}/run?from=${jobID}`}
              variant="default"
              leftSection={<RotateCcw size={16} aria-hidden />}
            >
              Run again with changes
            </Button>
            <CopyButton value={JSON.stringify({ inputs: provided }, null, 2)} label="Copy as a request" labelled />
          </Group>
        </>
      )}
    </Awaited>
  );
}

function InputValue({ value }: { readonly value: unknown }) {
  if (Array.isArray(value)) {
    return (
      <ul style={{ margin: 0, paddingInlineStart: "1.2rem" }}>
        {(value as readonly unknown[]).map((item) => (
          <li key={JSON.stringify(item)}>
            <InputValue value={item} />
          </li>
        ))}
      </ul>
    );
  }
  const href = typeof value === "string" ? value : (value as { href?: unknown } | null)?.href;
  const url = typeof href === "string" ? toFileUrl(href) : undefined;
  if (typeof href === "string" && url !== undefined) {
    return (
      <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
        {href}
      </Anchor>
    );
  }
  return <code>{typeof href === "string" ? href : JSON.stringify(value)}</code>;
}
