import { Anchor, Breadcrumbs, Button, Group, Paper, Stack, Table, Text, Title } from "@mantine/core";
import { Awaited, CopyButton, Page, RelativeTime, formatBytes } from "@swath/ui";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";

import { artifactApi, deleteLater, read } from "../api.ts";
import { shortDigest, toProject, toRepository } from "../paths.ts";
import { useProject } from "../projects/use-project.ts";
import { typeOf } from "../repositories/repository-page.tsx";
import { type Artifact, type Manifest, rightsOf } from "../types.ts";
import { PullCommands } from "./commands.tsx";
import { Layers } from "./layers.tsx";
import { Labels } from "./labels.tsx";
import { PackageText } from "./package-text.tsx";
import { Platforms } from "./platforms.tsx";
import { Referrers } from "./referrers.tsx";
import { SbomPackages } from "./sbom.tsx";
import { Tags } from "./tags.tsx";
import { Vulnerabilities } from "./vulnerabilities.tsx";

export interface ArtifactPlace {
  readonly project: string;
  /** Without the project. */
  readonly repository: string;
  readonly digest: string;
}

/** One artifact: what is in it, what refers to it, how to get it. */
export function Component() {
  const { project = "" } = useParams();
  const [search] = useSearchParams();
  const place = { project, repository: search.get("name") ?? "", digest: search.get("digest") ?? "" };
  const { repository, digest } = place;
  const known = useProject(project).data;
  const rights = known ? rightsOf(known) : { canMaintain: false, canPush: false };
  const artifact = useQuery({
    queryKey: ["artifact", project, repository, digest],
    queryFn: () => read<Artifact>(artifactApi(project, repository, digest)),
  });
  const manifest = useQuery({
    queryKey: ["manifest", project, repository, digest],
    queryFn: () => read<Manifest>(artifactApi(project, repository, digest, "/additions/manifest")),
    // Content does not change under its digest.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const name = artifact.data?.tags[0]?.name ?? shortDigest(digest);
  return (
    <Page
      title={name}
      name={`${project}/${repository}:${name}`}
      above={<Above project={project} repository={repository} />}
      about={artifact.data && <About artifact={artifact.data} />}
      actions={rights.canMaintain && artifact.data && <Delete place={place} name={name} />}
    >
      <Awaited query={artifact} what="Loading the artifact">
        {(data) => (
          <Stack>
            <Section title="Get it">
              <PullCommands repository={`${project}/${repository}`} artifact={data} />
            </Section>
            <Section title="Tags">
              <Tags place={place} artifact={data} rights={rights} />
            </Section>
            {(rights.canPush || (data.labels ?? []).length > 0) && (
              <Section title="Labels">
                <Labels place={place} artifact={data} rights={rights} />
              </Section>
            )}
            <Awaited query={manifest} what="Loading the manifest">
              {({ manifests, layers = [], config }) => (
                <>
                  {data.type === "CWL" && (
                    <Section title="Application package">
                      <PackageText place={place} />
                    </Section>
                  )}
                  {layers.some(({ mediaType }) => /spdx|cyclonedx/i.test(mediaType)) && (
                    <Section title="Bill of materials">
                      <SbomPackages place={place} />
                    </Section>
                  )}
                  {manifests !== undefined && (
                    <Section title="Platforms">
                      <Platforms place={place} manifests={manifests} />
                    </Section>
                  )}
                  {layers.length > 0 && (
                    <Section title="Layers">
                      <Layers place={place} layers={layers} config={config} />
                    </Section>
                  )}
                </>
              )}
            </Awaited>
            {data.type === "IMAGE" && (
              <Section title="Vulnerabilities">
                <Vulnerabilities place={place} canScan={rights.canPush} />
              </Section>
            )}
            <Section title="What refers to it">
              <Referrers place={place} name={name} />
            </Section>
            {data.annotations !== null && Object.keys(data.annotations).length > 0 && (
              <Section title="Annotations">
                <Annotations entries={data.annotations} />
              </Section>
            )}
          </Stack>
        )}
      </Awaited>
    </Page>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function About({ artifact }: { readonly artifact: Artifact }) {
  const { digest, size, push_time: pushed, pushed_by: by } = artifact;
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <Text component="code" size="sm" truncate>
          {digest}
        </Text>
        <CopyButton value={digest} label="Copy the digest" />
      </Group>
      {typeOf(artifact)}, {formatBytes(size)}, pushed <RelativeTime time={pushed} /> by {by}
    </>
  );
}

function Delete({
  place: { project, repository, digest },
  name,
}: {
  readonly place: ArtifactPlace;
  readonly name: string;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = () => {
    deleteLater(
      artifactApi(project, repository, digest),
      `The artifact ${name}`,
      () => void client.invalidateQueries({ queryKey: ["artifacts", project, repository] }),
    );
    void navigate(toRepository(project, repository));
  };
  return (
    <Button color="red" variant="outline" leftSection={<Trash2 size={16} aria-hidden />} onClick={remove}>
      Delete
    </Button>
  );
}

function Annotations({ entries }: { readonly entries: Readonly<Record<string, string>> }) {
  return (
    <Table.ScrollContainer minWidth={300}>
      <Table>
        <Table.Tbody>
          {Object.entries(entries).map(([key, value]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" fw={500}>
                {key}
              </Table.Th>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Above({ project, repository }: { readonly project: string; readonly repository: string }) {
  return (
    <Breadcrumbs style={{ flexWrap: "wrap" }}>
      <Anchor component={Link} to="/" size="sm">
        Projects
      </Anchor>
      <Anchor component={Link} to={toProject(project)} size="sm">
        {project}
      </Anchor>
      <Anchor component={Link} to={toRepository(project, repository)} size="sm">
        {repository}
      </Anchor>
    </Breadcrumbs>
  );
}
