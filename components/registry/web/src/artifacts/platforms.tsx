import { Anchor, Table } from "@mantine/core";
import { formatBytes } from "@swath/ui";
import { Link } from "react-router";

import { shortDigest, toArtifact } from "../paths.ts";
import type { Descriptor } from "../types.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";

interface PlatformsProps {
  readonly place: ArtifactPlace;
  readonly manifests: readonly Descriptor[];
}

/** The images of an index, by what they run on. */
export function Platforms({ place: { project, repository }, manifests }: PlatformsProps) {
  return (
    <Table.ScrollContainer minWidth={280}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Platform</Table.Th>
            <Table.Th>Digest</Table.Th>
            <Table.Th ta="end">Manifest</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {manifests.map(({ digest, size, platform, annotations }) => (
            <Table.Tr key={digest}>
              <Table.Td>
                {[platform?.os, platform?.architecture, platform?.variant].filter(Boolean).join("/") ||
                  annotations?.["vnd.docker.reference.type"] ||
                  "any"}
              </Table.Td>
              <Table.Td>
                <Anchor component={Link} to={toArtifact(project, repository, digest)}>
                  {shortDigest(digest)}
                </Anchor>
              </Table.Td>
              <Table.Td ta="end">{formatBytes(size)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
