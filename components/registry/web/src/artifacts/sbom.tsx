import { Table, Text } from "@mantine/core";
import { Awaited, formatPlural } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { artifactApi, read } from "../api.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";

interface Sbom {
  readonly format: string;
  readonly total: number;
  readonly packages: readonly {
    readonly name: string;
    readonly version: string | null;
    readonly license: string | null;
  }[];
}

/** What a bill of materials names. */
export function SbomPackages({ place: { project, repository, digest } }: { readonly place: ArtifactPlace }) {
  const sbom = useQuery({
    queryKey: ["sbom", project, repository, digest],
    queryFn: () => read<Sbom>(artifactApi(project, repository, digest, "/additions/sbom")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Awaited query={sbom} what="Loading the bill of materials">
      {({ format, total, packages }) => (
        <>
          <Text size="sm">
            {format}: {formatPlural(total, "package")}
          </Text>
          <Table.ScrollContainer minWidth={300} mah={420}>
            <Table aria-label="Packages">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Package</Table.Th>
                  <Table.Th>Version</Table.Th>
                  <Table.Th>License</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {packages.map(({ name, version, license }, index) => (
                  <Table.Tr key={`${index} ${name}`}>
                    <Table.Td>{name}</Table.Td>
                    <Table.Td>{version}</Table.Td>
                    <Table.Td>{license}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </>
      )}
    </Awaited>
  );
}
