import { Anchor, Button, Grid, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Awaited, CopyButton, Page, RequestError, formatBytes, formatCount, formatTime } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Download, Share2, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";

import { type Bucket, useBucket } from "../buckets/use-buckets.ts";
import { folderOf, toFolder, toObject } from "../paths.ts";
import { Preview } from "../preview/preview.tsx";
import { type ObjectInfo, readObjectInfo } from "../s3/object-info.ts";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { download } from "./download.ts";
import { ShareDialog } from "./share-dialog.tsx";
import { useDeletion } from "./use-deletion.tsx";
import { VersionList } from "./version-list.tsx";

/** One object: what it looks like, what is known of it, its versions, what can be done with it. */
export function Component() {
  const { bucket: name = "" } = useParams();
  const [search] = useSearchParams();
  const key = search.get("key") ?? "";
  const version = search.get("version") ?? undefined;
  const bucket = useBucket(name);
  return (
    <Awaited query={bucket} what="Loading the bucket">
      {(data) => <ObjectPage key={`${key} ${version}`} bucket={data} objectKey={key} version={version} />}
    </Awaited>
  );
}

interface ObjectPageProps {
  readonly bucket: Bucket;
  readonly objectKey: string;
  readonly version: string | undefined;
}

function ObjectPage({ bucket, objectKey: key, version }: ObjectPageProps) {
  const navigate = useNavigate();
  const name = key.slice(folderOf(key).length);
  const info = useQuery({
    queryKey: ["object", bucket.name, key, version ?? "newest"],
    queryFn: () => readObjectInfo(bucket.name, key, version),
  });
  const [isSharing, { open, close }] = useDisclosure(false);
  const deletion = useDeletion(bucket, () => void navigate(toFolder(bucket.name, folderOf(key))));
  const isGone = info.error instanceof RequestError && info.error.status === 404;
  const actions = info.data && (
    <>
      <Button leftSection={<Download size={16} aria-hidden />} onClick={() => void download(bucket.name, key, version)}>
        Download
      </Button>
      <Button variant="default" leftSection={<Share2 size={16} aria-hidden />} onClick={open}>
        Share
      </Button>
      {version === undefined && (
        <Button
          variant="outline"
          color="red"
          leftSection={<Trash2 size={16} aria-hidden />}
          loading={deletion.isPending}
          onClick={() => void deletion.send([{ key, name, isFolder: false }])}
        >
          Delete
        </Button>
      )}
    </>
  );
  return (
    <Page
      title={name}
      above={<Breadcrumbs bucket={bucket.name} prefix={folderOf(key)} leaf={name} />}
      about={
        version !== undefined && (
          <>
            This is version {version}. <Link to={toObject(bucket.name, key)}>Show the newest</Link>
          </>
        )
      }
      actions={actions}
    >
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {isGone ? (
            <Text>The object was deleted, or never was. Where versions of it are kept, they are in the list.</Text>
          ) : (
            <Awaited query={info} what="Loading the object">
              {(data) => <Preview bucket={bucket.name} objectKey={key} version={version} info={data} />}
            </Awaited>
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            {info.data && <Facts bucket={bucket.name} objectKey={key} info={info.data} />}
            {bucket.versioning !== "Off" && <VersionList bucket={bucket.name} objectKey={key} shown={version} />}
          </Stack>
        </Grid.Col>
      </Grid>
      <ShareDialog opened={isSharing} onClose={close} bucket={bucket.name} objectKey={key} version={version} />
    </Page>
  );
}

interface FactsProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly info: ObjectInfo;
}

function Facts({ bucket, objectKey: key, info }: FactsProps) {
  const address = `s3://${bucket}/${key}`;
  const rows: readonly (readonly [string, ReactNode])[] = [
    ["Size", `${formatBytes(info.size)}${info.size >= 1000 ? ` (${formatCount(info.size)} bytes)` : ""}`],
    ["Type", info.type],
    ["Changed", formatTime(new Date(info.modified))],
    ["ETag", info.etag],
    ...(info.version === undefined ? [] : [["Version", info.version] as const]),
    ...info.tags.map(([name, value]) => [`Tag ${name}`, value] as const),
  ];
  return (
    <Paper withBorder p="md" component="section" aria-label="Details">
      <Title order={2} mb="xs">
        Details
      </Title>
      <Stack gap={6}>
        {rows.map(([label, value]) => (
          <div key={label}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {value}
            </Text>
          </div>
        ))}
        <div>
          <Text size="xs" c="dimmed">
            S3 address
          </Text>
          <Group gap={4} wrap="nowrap">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {address}
            </Text>
            <CopyButton value={address} label="Copy the S3 address" />
          </Group>
        </div>
        <Anchor component={Link} to={toFolder(bucket, folderOf(key))} size="sm">
          Back to the folder
        </Anchor>
      </Stack>
    </Paper>
  );
}
