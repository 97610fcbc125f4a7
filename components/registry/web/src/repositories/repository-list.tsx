import { Anchor } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, RelativeTime, formatCount, deleteColumn } from "@swath/ui";
import { useQueryClient } from "@tanstack/react-query";
import { Package } from "lucide-react";
import { useMemo, useState } from "react";
import { Link } from "react-router";

import { deleteLater, projectApi, repositoryApi, usePages } from "../api.ts";
import { PushCommands } from "../artifacts/commands.tsx";
import { LoadMore } from "../load-more.tsx";
import { splitName, toRepository } from "../paths.ts";
import { useThisProject } from "../projects/use-project.ts";
import { type Repository, rightsOf } from "../types.ts";

const COLUMNS: readonly Column<Repository>[] = [
  {
    key: "name",
    header: "Repository",
    render: ({ name }) => {
      const { project, repository } = splitName(name);
      return (
        <Anchor component={Link} to={toRepository(project, repository)} fw={500} truncate>
          {repository}
        </Anchor>
      );
    },
    sortBy: ({ name }) => name,
  },
  {
    key: "artifacts",
    header: "Artifacts",
    width: "7rem",
    align: "end",
    render: ({ artifact_count: count }) => formatCount(count),
    sortBy: ({ artifact_count: count }) => count,
  },
  {
    key: "pulls",
    header: "Pulls",
    width: "6rem",
    align: "end",
    hideBelow: "sm",
    render: ({ pull_count: count }) => formatCount(count),
    sortBy: ({ pull_count: count }) => count,
  },
  {
    key: "updated",
    header: "Changed",
    width: "9rem",
    hideBelow: "md",
    render: ({ update_time: time }) => <RelativeTime time={time} />,
    sortBy: ({ update_time: time }) => time,
  },
];

/** Repositories of a project, and how to push one. */
export function Component() {
  const project = useThisProject();
  const { canMaintain, canPush } = rightsOf(project);
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const key = ["repositories", project.name];
  const repositories = usePages<Repository>(key, projectApi(project.name, "/repositories"));
  const columns = useMemo(() => {
    const remove = (name: string) => {
      setLeaving((known) => new Set([...known, name]));
      deleteLater(repositoryApi(project.name, splitName(name).repository), `The repository ${name}`, () => {
        setLeaving((known) => new Set([...known].filter((each) => each !== name)));
        void client.invalidateQueries({ queryKey: ["repositories", project.name] });
        void client.invalidateQueries({ queryKey: ["project", project.name] });
      });
    };
    return canMaintain
      ? [
          ...COLUMNS,
          deleteColumn<Repository>(
            ({ name }) => name,
            async ({ name }) => remove(name),
          ),
        ]
      : COLUMNS;
  }, [canMaintain, client, project.name]);
  return (
    <Awaited query={repositories} what="Loading repositories">
      {() =>
        repositories.rows.length === 0 ? (
          <Empty title="No repositories" icon={Package}>
            A repository comes with the first push.
            {canPush && <PushCommands project={project.name} />}
          </Empty>
        ) : (
          <>
            <DataTable
              label="Repositories"
              rows={repositories.rows.filter(({ name }) => !leaving.has(name))}
              rowKey={({ name }) => name}
              columns={columns}
              initialSort={{ column: "name", direction: "ascending" }}
            />
            <LoadMore list={repositories} />
          </>
        )
      }
    </Awaited>
  );
}
