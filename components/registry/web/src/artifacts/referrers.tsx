import { Anchor, Badge, Group, Text } from "@mantine/core";
import { Awaited, formatBytes } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { artifactApi, read } from "../api.ts";
import { shortDigest, toArtifact } from "../paths.ts";
import type { Accessory } from "../types.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";
import classes from "./layers.module.css";

const KINDS: Readonly<Record<string, string>> = {
  "signature.cosign": "Signature (cosign)",
  "signature.notation": "Signature (notation)",
  sbom: "Software bill of materials",
  "subject.accessory": "Artifact",
};
/** Signatures of SBOMs of images, and no further. */
const MAX_DEPTH = 4;

/** The graph of what names the artifact as its subject: signatures, SBOMs, and what names those. */
export function Referrers({ place, name }: { readonly place: ArtifactPlace; readonly name: string }) {
  return (
    <ul className={classes.tree} aria-label={`What refers to ${name}`}>
      <li>
        <Text size="sm" fw={500} span>
          {name}
        </Text>
        <Branch place={place} depth={1} />
      </li>
    </ul>
  );
}

function Branch({ place, depth }: { readonly place: ArtifactPlace; readonly depth: number }) {
  const { project, repository, digest } = place;
  const found = useQuery({
    queryKey: ["accessories", project, repository, digest],
    queryFn: () => read<readonly Accessory[]>(artifactApi(project, repository, digest, "/accessories")),
  });
  return (
    <Awaited query={found} what="Looking for referrers">
      {(accessories) =>
        accessories.length === 0 ? (
          depth === 1 && (
            <Text size="sm" c="dimmed" component="p" m={0}>
              Nothing: neither a signature nor an SBOM.
            </Text>
          )
        ) : (
          <ul>
            {accessories.map(({ digest: referrer, size, type, artifact_type: artifactType }) => (
              <li key={referrer}>
                <Group gap="xs">
                  <Badge variant="light" tt="none" color={type.startsWith("signature") ? "green" : undefined}>
                    {KINDS[type] ?? "Artifact"}
                  </Badge>
                  <Anchor component={Link} size="sm" to={toArtifact(project, repository, referrer)}>
                    {shortDigest(referrer)}
                  </Anchor>
                  <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                    {artifactType}, {formatBytes(size)}
                  </Text>
                </Group>
                {depth < MAX_DEPTH && <Branch place={{ ...place, digest: referrer }} depth={depth + 1} />}
              </li>
            ))}
          </ul>
        )
      }
    </Awaited>
  );
}
