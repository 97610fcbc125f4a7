import { Anchor, Stack, Text } from "@mantine/core";
import { Awaited, type Column, DataTable, RelativeTime, formatPlural } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { type Pod, listPods } from "../api/admin.ts";
import { PhaseBadge } from "./phase-badge.tsx";

const COLUMNS: readonly Column<Pod>[] = [
  {
    key: "name",
    header: "Pod",
    sortBy: ({ name }) => name,
    render: ({ namespace, name, message }) => (
      <>
        <Anchor component={Link} to={`/admin/pods/${namespace}/${name}`} style={{ overflowWrap: "anywhere" }}>
          {name}
        </Anchor>
        {message !== undefined && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            {message}
          </Text>
        )}
      </>
    ),
  },
  {
    key: "namespace",
    header: "Namespace",
    width: "130px",
    hideBelow: "sm",
    sortBy: ({ namespace }) => namespace,
    render: ({ namespace }) => namespace,
  },
  {
    key: "phase",
    header: "State",
    width: "150px",
    sortBy: ({ phase }) => phase,
    render: (pod) => <PhaseBadge pod={pod} />,
  },
  {
    key: "restarts",
    header: "Restarts",
    width: "110px",
    align: "end",
    hideBelow: "sm",
    sortBy: ({ restarts }) => restarts,
    render: ({ restarts }) => restarts,
  },
  {
    key: "age",
    header: "Age",
    width: "150px",
    hideBelow: "md",
    sortBy: ({ createdAt }) => createdAt,
    render: ({ createdAt }) => <RelativeTime time={createdAt} />,
  },
];

/** What runs, looked at every three seconds. */
export function Component() {
  const pods = useQuery({ queryKey: ["pods"], queryFn: listPods, refetchInterval: 3000 });
  return (
    <Awaited query={pods} what="Loading pods">
      {(rows) => {
        const unhealthy = rows.filter(({ phase, ready }) => phase !== "Completed" && !(phase === "Running" && ready));
        return (
          <Stack>
            <Text role="status">
              {unhealthy.length === 0
                ? `All ${rows.length} pods are Running or Completed.`
                : `${formatPlural(unhealthy.length, "pod")} of ${rows.length} not ready.`}
            </Text>
            <DataTable
              label="Pods"
              rows={rows}
              rowKey={({ namespace, name }) => `${namespace}/${name}`}
              columns={COLUMNS}
              initialSort={{ column: "name", direction: "ascending" }}
            />
          </Stack>
        );
      }}
    </Awaited>
  );
}
