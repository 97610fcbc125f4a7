import { Badge, Button, Group } from "@mantine/core";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  RelativeTime,
  deleteColumn,
  switchColumn,
  useChange,
  useConfirm,
} from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Bot, Plus } from "lucide-react";
import { useMemo, useState } from "react";

import { change, read } from "../api.ts";
import { CreateRobot } from "./create-robot.tsx";

export interface Robot {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly level: "system" | "project";
  readonly disable: boolean;
  readonly duration: number;
  /** Seconds since 1970; -1: never. */
  readonly expires_at: number;
  readonly permissions: readonly {
    readonly namespace: string;
    readonly access: readonly { readonly resource: string; readonly action: string }[];
  }[];
}

interface RobotsProps {
  /** Left out for those of the whole registry. */
  readonly project?: { readonly project_id: number; readonly name: string };
}

/** Accounts for programs, each with its secret, its end and what it may do. */
export function Robots({ project }: RobotsProps) {
  const confirm = useConfirm();
  const [isMaking, setMaking] = useState(false);
  const path = project === undefined ? "/robots" : `/robots?q=Level%3Dproject,ProjectID%3D${project.project_id}`;
  const robots = useQuery({ queryKey: ["robots", path], queryFn: () => read<readonly Robot[]>(path) });
  const enable = useChange<Robot & { enabled: boolean }>({
    request: ({ enabled, ...robot }) => change("PUT", `/robots/${robot.id}`, { ...robot, disable: enabled }),
    failed: "The robot was not changed",
    lists: ["robots"],
  });
  const remove = useChange<Robot>({
    request: ({ id }) => change("DELETE", `/robots/${id}`),
    failed: "The robot was not deleted",
    lists: ["robots"],
  });
  const columns = useMemo((): readonly Column<Robot & { enabled: boolean }>[] => {
    const send = async (robot: Robot) => {
      const isSure = await confirm({
        title: `Delete ${robot.name}`,
        body: "Programs that log in with it stop working.",
        action: "Delete the robot",
        danger: true,
      });
      if (isSure) {
        remove(robot);
      }
    };
    return [
      { key: "name", header: "Name", render: ({ name }) => name, sortBy: ({ name }) => name },
      {
        key: "permissions",
        header: "May",
        width: "14rem",
        hideBelow: "sm",
        render: ({ permissions }) => (
          <Group gap={4} wrap="nowrap">
            {permissions.map(({ namespace, access }) => (
              <Badge key={namespace} variant="light" tt="none">
                {project === undefined && `${namespace}: `}
                {access.map(({ action }) => action).join(", ")}
              </Badge>
            ))}
          </Group>
        ),
      },
      {
        key: "expires",
        header: "Ends",
        width: "8rem",
        hideBelow: "md",
        render: ({ expires_at: end }) => (end < 0 ? "never" : <RelativeTime time={end * 1000} />),
      },
      switchColumn(({ name }) => `${name} may log in`, enable),
      deleteColumn(({ name }) => name, send),
    ];
  }, [confirm, enable, project, remove]);
  const create = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setMaking(true)}>
      Create a robot
    </Button>
  );
  return (
    <Awaited query={robots} what="Loading robots">
      {(list) => (
        <>
          {list.length === 0 ? (
            <Empty title="No robots" icon={Bot} action={create}>
              A robot is an account for a program: it has a secret, an end, and only the rights that it needs.
            </Empty>
          ) : (
            <>
              {create}
              <DataTable
                label="Robots"
                rows={list.map((robot) => ({ ...robot, enabled: !robot.disable }))}
                rowKey={({ id }) => String(id)}
                columns={columns}
                initialSort={{ column: "name", direction: "ascending" }}
              />
            </>
          )}
          {isMaking && <CreateRobot {...(project && { project: project.name })} onClose={() => setMaking(false)} />}
        </>
      )}
    </Awaited>
  );
}
