import { Text } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, RelativeTime } from "@swath/ui";
import { ScrollText } from "lucide-react";

import { usePages } from "../api.ts";
import { LoadMore } from "../load-more.tsx";
import type { AuditRecord } from "../types.ts";

const COLUMNS: readonly Column<AuditRecord>[] = [
  { key: "time", header: "When", width: "9rem", render: ({ op_time: time }) => <RelativeTime time={time} /> },
  { key: "user", header: "Who", width: "12rem", hideBelow: "sm", render: ({ username }) => username },
  { key: "operation", header: "Did", width: "6rem", render: ({ operation }) => operation },
  {
    key: "resource",
    header: "What",
    render: ({ resource_type: type, resource }) => (
      <Text size="sm" truncate title={resource}>
        {type} {resource}
      </Text>
    ),
  },
];

/** Who changed what, the latest first. */
export function AuditTable({ path }: { readonly path: string }) {
  const records = usePages<AuditRecord>(["audit", path], path);
  return (
    <Awaited query={records} what="Loading the audit log">
      {() =>
        records.rows.length === 0 ? (
          <Empty title="Nothing happened yet" icon={ScrollText}>
            Pushes, deletions and changes of rights are written down here.
          </Empty>
        ) : (
          <>
            <DataTable label="Audit log" rows={records.rows} rowKey={({ id }) => String(id)} columns={COLUMNS} />
            <LoadMore list={records} />
          </>
        )
      }
    </Awaited>
  );
}
