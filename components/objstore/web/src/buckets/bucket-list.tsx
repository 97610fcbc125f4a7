import { Awaited, type Column, DataTable, Page, RelativeTime, UsageBar, formatCount, requestJson } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

/** A bucket as `GET /api/buckets` gives it. */
interface Bucket {
  readonly name: string;
  readonly created: string;
  readonly objects: number;
  readonly bytes: number;
  readonly quotaBytes: number | null;
}

const COLUMNS: readonly Column<Bucket>[] = [
  { key: "name", header: "Bucket", render: ({ name }) => name, sortBy: ({ name }) => name },
  {
    key: "objects",
    header: "Objects",
    width: "8rem",
    align: "end",
    render: ({ objects }) => formatCount(objects),
    sortBy: ({ objects }) => objects,
  },
  {
    key: "bytes",
    header: "Use",
    width: "12rem",
    render: ({ name, bytes, quotaBytes }) => <UsageBar used={bytes} limit={quotaBytes} label={`Use of ${name}`} />,
    sortBy: ({ bytes }) => bytes,
  },
  {
    key: "created",
    header: "Made",
    width: "10rem",
    hideBelow: "sm",
    render: ({ created }) => <RelativeTime time={created} />,
    sortBy: ({ created }) => created,
  },
];

export function Component() {
  const buckets = useQuery({
    queryKey: ["buckets"],
    queryFn: () => requestJson<{ buckets: Bucket[] }>("/api/buckets"),
  });
  return (
    <Page title="Buckets">
      <Awaited query={buckets}>
        {({ buckets: list }) => (
          <DataTable label="Buckets" rows={list} rowKey={({ name }) => name} columns={COLUMNS} rowHeight={52} />
        )}
      </Awaited>
    </Page>
  );
}
