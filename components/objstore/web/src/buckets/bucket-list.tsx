import { Anchor, Badge, Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  Awaited,
  type Column,
  DataTable,
  Empty,
  Page,
  UsageBar,
  formatBytes,
  formatCount,
  formatPlural,
  madeColumn,
} from "@swath/ui";
import { Database, Plus } from "lucide-react";
import { Link } from "react-router";

import { toBucket } from "../paths.ts";
import { CreateBucket } from "./create-bucket.tsx";
import { type Bucket, useBuckets } from "./use-buckets.ts";

const COLUMNS: readonly Column<Bucket>[] = [
  {
    key: "name",
    header: "Bucket",
    render: ({ name }) => (
      <Anchor component={Link} to={toBucket(name)} fw={500}>
        {name}
      </Anchor>
    ),
    sortBy: ({ name }) => name,
  },
  {
    key: "objects",
    header: "Objects",
    width: "7rem",
    align: "end",
    render: ({ objects }) => formatCount(objects),
    sortBy: ({ objects }) => objects,
  },
  {
    key: "bytes",
    header: "Used",
    width: "12rem",
    render: ({ name, bytes, uploadBytes, quotaBytes }) => (
      <UsageBar used={bytes + uploadBytes} limit={quotaBytes} label={`Use of ${name}`} />
    ),
    sortBy: ({ bytes }) => bytes,
  },
  {
    key: "marks",
    header: "Settings",
    width: "11rem",
    hideBelow: "md",
    render: ({ versioning, policy }) => (
      <Group gap={4} wrap="nowrap">
        {versioning !== "Off" && <Badge variant="light">{versioning === "Enabled" ? "versions" : "paused"}</Badge>}
        {policy !== null && (
          <Badge variant="light" color="yellow">
            policy
          </Badge>
        )}
      </Group>
    ),
  },
  madeColumn(),
];

/** All buckets that one may look into, with what they use. */
export function Component() {
  const buckets = useBuckets();
  const [isMaking, { open, close }] = useDisclosure(false);
  const create = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={open}>
      Create bucket
    </Button>
  );
  return (
    <Page title="Buckets" actions={create}>
      <Awaited query={buckets} what="Loading buckets">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No buckets" icon={Database} action={create}>
              A bucket holds objects: files of any size, found by their names. There is none that you may look into.
            </Empty>
          ) : (
            <>
              <Text size="sm" c="dimmed">
                {formatPlural(list.length, "bucket")}, {formatBytes(list.reduce((sum, { bytes }) => sum + bytes, 0))}
              </Text>
              <DataTable
                label="Buckets"
                rows={list}
                rowKey={({ name }) => name}
                columns={COLUMNS}
                rowHeight={52}
                initialSort={{ column: "name", direction: "ascending" }}
              />
            </>
          )
        }
      </Awaited>
      <CreateBucket opened={isMaking} onClose={close} />
    </Page>
  );
}
