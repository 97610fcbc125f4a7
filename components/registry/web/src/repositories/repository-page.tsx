import { Anchor, Badge, Breadcrumbs, Group } from "@mantine/core";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  RelativeTime,
  deleteColumn,
  formatBytes,
  formatPlural,
} from "@swath/ui";
import { useQueryClient } from "@tanstack/react-query";
import { Package } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useParams, useSearchParams } from "react-router";

import { artifactApi, deleteLater, repositoryApi, usePages } from "../api.ts";
import { LoadMore } from "../load-more.tsx";
import { shortDigest, toArtifact, toProject } from "../paths.ts";
import { useProject } from "../projects/use-project.ts";
import { type Artifact, rightsOf } from "../types.ts";
import { Description } from "./description.tsx";

const MAX_TAGS_SHOWN = 6;

/** The artifacts of a repository, the latest push first. */
export function Component() {
  const { project = "" } = useParams();
  const repository = useSearchParams()[0].get("name") ?? "";
  const known = useProject(project).data;
  const { canMaintain, canPush } = known ? rightsOf(known) : { canMaintain: false, canPush: false };
  const artifacts = usePages<Artifact>(
    ["artifacts", project, repository],
    repositoryApi(project, repository, "/artifacts"),
  );
  const { columns, leaving } = useColumns({ project, repository, canMaintain });
  return (
    <Page
      title={repository}
      name={`${project}/${repository}`}
      above={<Above project={project} />}
      about={formatPlural(artifacts.total, "artifact")}
    >
      <Description project={project} repository={repository} canChange={canPush} />
      <Awaited query={artifacts} what="Loading artifacts">
        {() =>
          artifacts.rows.length === 0 ? (
            <Empty title="No artifacts" icon={Package}>
              Everything in this repository was deleted, or a push is on its way.
            </Empty>
          ) : (
            <>
              <DataTable
                label="Artifacts"
                rows={artifacts.rows.filter(({ digest }) => !leaving.has(digest))}
                rowKey={({ digest }) => digest}
                columns={columns}
                rowHeight={52}
              />
              <LoadMore list={artifacts} />
            </>
          )
        }
      </Awaited>
    </Page>
  );
}

interface ColumnsOptions {
  readonly project: string;
  readonly repository: string;
  readonly canMaintain: boolean;
}

function useColumns({ project, repository, canMaintain }: ColumnsOptions) {
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const columns = useMemo((): readonly Column<Artifact>[] => {
    const remove = async ({ digest, tags }: Artifact) => {
      setLeaving((known) => new Set([...known, digest]));
      deleteLater(
        artifactApi(project, repository, digest),
        `The artifact ${tags[0]?.name ?? shortDigest(digest)}`,
        () => {
          setLeaving((known) => new Set([...known].filter((each) => each !== digest)));
          void client.invalidateQueries({ queryKey: ["artifacts", project, repository] });
        },
      );
    };
    return [
      {
        key: "tags",
        header: "Tags",
        render: ({ digest, tags }) => (
          <Group gap={6} wrap="nowrap" style={{ overflow: "hidden" }}>
            <Anchor component={Link} to={toArtifact(project, repository, digest)} fw={500}>
              {tags[0]?.name ?? shortDigest(digest)}
            </Anchor>
            {tags.slice(1, MAX_TAGS_SHOWN).map(({ name }) => (
              <Badge key={name} variant="light" tt="none">
                {name}
              </Badge>
            ))}
            {tags.length > MAX_TAGS_SHOWN && <Badge variant="default">+{tags.length - MAX_TAGS_SHOWN}</Badge>}
          </Group>
        ),
        sortBy: ({ tags }) => tags[0]?.name ?? "",
      },
      { key: "type", header: "Type", width: "7rem", hideBelow: "sm", render: (artifact) => typeOf(artifact) },
      {
        key: "size",
        header: "Size",
        width: "6rem",
        align: "end",
        render: ({ size }) => formatBytes(size),
        sortBy: ({ size }) => size,
      },
      {
        key: "pushed",
        header: "Pushed",
        width: "9rem",
        hideBelow: "sm",
        render: ({ push_time: time }) => <RelativeTime time={time} />,
        sortBy: ({ push_time: time }) => time,
      },
      {
        key: "pulled",
        header: "Pulled",
        width: "9rem",
        hideBelow: "md",
        render: ({ pull_time: time }) => (time === null ? "never" : <RelativeTime time={time} />),
        sortBy: ({ pull_time: time }) => time ?? "",
      },
      ...(canMaintain
        ? [deleteColumn<Artifact>(({ digest, tags }) => tags[0]?.name ?? shortDigest(digest), remove)]
        : []),
    ];
  }, [canMaintain, client, project, repository]);
  return { columns, leaving };
}

/** What an artifact is, in a word. */
export function typeOf({ type, references }: Artifact): string {
  switch (type) {
    case "IMAGE":
      return references.length > 0 ? "Index" : "Image";
    case "CHART":
      return "Helm chart";
    case "CWL":
      return "Application";
    default:
      return "Artifact";
  }
}

function Above({ project }: { readonly project: string }) {
  return (
    <Breadcrumbs>
      <Anchor component={Link} to="/" size="sm">
        Projects
      </Anchor>
      <Anchor component={Link} to={toProject(project)} size="sm">
        {project}
      </Anchor>
    </Breadcrumbs>
  );
}
