import { Table, Text } from "@mantine/core";
import { formatPlural } from "@swath/ui";

import { shortDigest } from "../paths.ts";

export interface Run {
  readonly dry_run: boolean;
  readonly retained: number;
  readonly deleted: number;
  readonly decisions: readonly {
    readonly repository: string;
    readonly digest: string;
    readonly tag: string | null;
    readonly reason: string;
  }[];
}

/** What went, or would go, and why. */
export function RetentionResult({ run: { dry_run: isDryRun, retained, deleted, decisions } }: { readonly run: Run }) {
  return (
    <>
      <Text size="sm" mt="sm" role="status">
        {formatPlural(deleted, "tag or artifact", "tags and artifacts")} {isDryRun ? "would go" : "went"},{" "}
        {formatPlural(retained, "stays", "stay")}.
      </Text>
      {decisions.length > 0 && (
        <Table.ScrollContainer minWidth={300} mah={400}>
          <Table aria-label={isDryRun ? "What would go" : "What went"}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Artifact</Table.Th>
                <Table.Th>Why</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {decisions.map(({ repository, digest, tag, reason }) => (
                <Table.Tr key={`${repository} ${tag ?? digest}`}>
                  <Table.Td>{tag === null ? `${repository}@${shortDigest(digest)}` : `${repository}:${tag}`}</Table.Td>
                  <Table.Td>{reason}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </>
  );
}
