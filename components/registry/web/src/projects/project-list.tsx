import { Anchor, Badge, Button, Group, TextInput } from "@mantine/core";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { Awaited, type Column, DataTable, Empty, Page, UsageBar, formatCount, formatPlural } from "@swath/ui";
import { Boxes, Plus, Search } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";

import { usePages } from "../api.ts";
import { LoadMore } from "../load-more.tsx";
import { toProject } from "../paths.ts";
import { useSession } from "../session.ts";
import type { Project } from "../types.ts";
import { CreateProject } from "./create-project.tsx";

const COLUMNS: readonly Column<Project>[] = [
  {
    key: "name",
    header: "Project",
    render: ({ name, metadata }) => (
      <Group gap="xs" wrap="nowrap">
        <Anchor component={Link} to={toProject(name)} fw={500} truncate>
          {name}
        </Anchor>
        {metadata.public === "true" && <Badge variant="light">public</Badge>}
      </Group>
    ),
    sortBy: ({ name }) => name,
  },
  {
    key: "repositories",
    header: "Repositories",
    width: "8rem",
    align: "end",
    hideBelow: "sm",
    render: ({ repo_count: count }) => formatCount(count),
    sortBy: ({ repo_count: count }) => count,
  },
  {
    key: "used",
    header: "Used",
    width: "11rem",
    render: ({ name, quota }) => <UsageBar {...toUsage(quota)} label={`Use of ${name}`} />,
    sortBy: ({ quota }) => quota?.used.storage ?? 0,
  },
];

/** A quota as the bar shows it. */
export function toUsage(quota: Project["quota"]): { readonly used: number; readonly limit: number | null } {
  const limit = quota?.hard.storage ?? -1;
  return { used: quota?.used.storage ?? 0, limit: limit < 0 ? null : limit };
}

/** All projects that one may look into. */
export function Component() {
  const { data: session } = useSession();
  const [text, setText] = useState("");
  const [name] = useDebouncedValue(text, 250);
  const projects = usePages<Project>(["projects", name], `/projects?name=${encodeURIComponent(name)}`);
  const [isMaking, { open, close }] = useDisclosure(false);
  const create = session?.isAdmin ? (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={open}>
      Create project
    </Button>
  ) : undefined;
  return (
    <Page title="Projects" about={formatPlural(projects.total, "project")} actions={create}>
      <TextInput
        aria-label="Part of the name"
        placeholder="Part of the name"
        leftSection={<Search size={16} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maw={340}
      />
      <Awaited query={projects} what="Loading projects">
        {() =>
          projects.rows.length === 0 ? (
            <Empty title={name === "" ? "No projects" : "No project of this name"} icon={Boxes} action={create}>
              A project holds repositories, and says who may pull and push there. Every workspace has one.
            </Empty>
          ) : (
            <>
              <DataTable
                label="Projects"
                rows={projects.rows}
                rowKey={({ name: key }) => key}
                columns={COLUMNS}
                rowHeight={52}
                initialSort={{ column: "name", direction: "ascending" }}
              />
              <LoadMore list={projects} />
            </>
          )
        }
      </Awaited>
      <CreateProject opened={isMaking} onClose={close} />
    </Page>
  );
}
