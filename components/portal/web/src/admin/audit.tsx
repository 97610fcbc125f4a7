import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { Awaited, type Column, DataTable, RelativeTime } from "@swath/ui";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type AuditFilter, type AuditLine, searchAudit } from "../api/admin.ts";

const COLUMNS: readonly Column<AuditLine>[] = [
  { key: "at", header: "When", width: "150px", render: ({ at }) => <RelativeTime time={at} /> },
  {
    key: "actor",
    header: "Who",
    width: "180px",
    render: ({ actor, actorName, ip }) => (
      <>
        <Text size="sm" truncate title={actor}>
          {actorName ?? actor}
        </Text>
        {ip !== undefined && (
          <Text size="xs" c="dimmed">
            {ip}
          </Text>
        )}
      </>
    ),
  },
  {
    key: "action",
    header: "Action",
    render: ({ action, target }) => (
      <>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {action}
        </Text>
        {target !== undefined && (
          <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: "anywhere" }}>
            {target}
          </Text>
        )}
      </>
    ),
  },
  { key: "service", header: "Service", width: "150px", hideBelow: "sm", render: ({ service }) => service },
];

/** Who did what, over all services. */
export function Component() {
  const [filter, setFilter] = useState<AuditFilter>({});
  const [draft, setDraft] = useState<AuditFilter>({});
  const pages = useInfiniteQuery({
    queryKey: ["audit", filter],
    queryFn: ({ pageParam }) => searchAudit(filter, pageParam),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next,
  });
  const field = (name: keyof AuditFilter, label: string) => (
    <TextInput
      label={label}
      value={draft[name] ?? ""}
      onChange={({ currentTarget: { value } }) => setDraft((before) => ({ ...before, [name]: value }))}
    />
  );
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setFilter(draft);
        }}
      >
        <Group align="end">
          {field("actor", "Who")}
          {field("text", "Action or target")}
          {field("service", "Service")}
          <Button type="submit">Search</Button>
        </Group>
      </form>
      <Awaited query={pages} what="Loading the audit trail">
        {({ pages: loaded }) => {
          const lines = loaded.flatMap(({ entries }) => entries);
          return lines.length === 0 ? (
            <Text role="status">No entry fits.</Text>
          ) : (
            <>
              <DataTable
                label="Audit trail"
                rows={lines}
                rowKey={({ n }) => String(n)}
                columns={COLUMNS}
                rowHeight={56}
              />
              {pages.hasNextPage && (
                <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                  Load more
                </Button>
              )}
            </>
          );
        }}
      </Awaited>
    </Stack>
  );
}
