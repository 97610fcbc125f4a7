import { Alert, Button, Grid, Group, Paper, Progress, Stack, Text, Title } from "@mantine/core";
import {
  Awaited,
  CopyButton,
  Page,
  RelativeTime,
  formatBytes,
  formatCount,
  formatPlural,
  notifyFailed,
  requestJson,
} from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";

import { useSession } from "../session.ts";

interface Damage {
  readonly file: string;
  readonly what: string;
}

interface Scrub {
  readonly started: number;
  /** Left out while it runs. */
  readonly finished?: number;
  readonly checked: number;
  readonly damaged: readonly Damage[];
}

/** What `GET /api/server` says. */
interface Server {
  readonly endpoint: string;
  readonly region: string;
  readonly disk: { readonly total: number; readonly free: number };
  readonly buckets: number;
  readonly bytes: number;
  readonly scrub: Scrub;
  /** What is known to be damaged now, by reads or by the last check: up to a hundred contents. */
  readonly damaged: readonly Damage[];
}

/** How full the disk is, and whether what is stored is still what came. */
export function Component() {
  const server = useQuery({
    queryKey: ["server"],
    queryFn: () => requestJson<Server>("/api/server"),
    refetchInterval: ({ state }) => (state.data?.scrub.finished === undefined ? 1000 : 15_000),
  });
  return (
    <Page title="Storage">
      <Awaited query={server} what="Loading the state of the storage">
        {(data) => (
          <Grid>
            <Grid.Col span={{ base: 12, md: 6 }}>
              <Disk server={data} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 6 }}>
              <Connection server={data} />
            </Grid.Col>
            <Grid.Col span={12}>
              <ScrubReport scrub={data.scrub} damaged={data.damaged} />
            </Grid.Col>
          </Grid>
        )}
      </Awaited>
    </Page>
  );
}

function Disk({ server: { disk, bytes, buckets } }: { readonly server: Server }) {
  const used = disk.total - disk.free;
  const own = Math.min(bytes, used);
  const share = (part: number) => (disk.total === 0 ? 0 : (part / disk.total) * 100);
  return (
    <Paper withBorder p="md" h="100%">
      <Title order={2} mb="xs">
        Disk
      </Title>
      <Text size="sm">
        {formatBytes(own)} in {formatPlural(buckets, "bucket")}, {formatBytes(used - own)} used by others,{" "}
        {formatBytes(disk.free)} of {formatBytes(disk.total)} free
      </Text>
      <Progress.Root size="lg" mt="sm">
        <Progress.Section value={share(own)} color="teal" aria-label="Share of the disk used by objects" />
        <Progress.Section value={share(used - own)} color="gray.5" aria-label="Share of the disk used by others" />
      </Progress.Root>
      {share(disk.free) < 5 && (
        <Alert color="red" mt="sm" title="The disk is nearly full">
          Uploads are refused before it is full, so that objects can still be deleted.
        </Alert>
      )}
    </Paper>
  );
}

function Connection({ server: { endpoint, region } }: { readonly server: Server }) {
  return (
    <Paper withBorder p="md" h="100%">
      <Title order={2} mb="xs">
        For S3 programs
      </Title>
      <Stack gap={4}>
        <Group gap={4}>
          <Text size="sm" c="dimmed">
            Endpoint
          </Text>
          <code>{endpoint}</code>
          <CopyButton value={endpoint} label="Copy the endpoint" />
        </Group>
        <Group gap={4}>
          <Text size="sm" c="dimmed">
            Region
          </Text>
          <code>{region}</code>
        </Group>
        <Text size="sm" c="dimmed">
          An access key and its secret come from the page Access keys.
        </Text>
      </Stack>
    </Paper>
  );
}

function ScrubReport({ scrub, damaged }: { readonly scrub: Scrub; readonly damaged: readonly Damage[] }) {
  const client = useQueryClient();
  const { data: session } = useSession();
  const start = useMutation({
    mutationFn: () => requestJson("/api/scrub", { method: "POST" }),
    onError: (error) => notifyFailed("The check was not started", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["server"] }),
  });
  const isRunning = scrub.finished === undefined;
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Data integrity
      </Title>
      <Text size="sm" mb="sm" role="status">
        {describe(scrub)}
        {!isRunning && scrub.started > 0 && (
          <>
            {" "}
            Checked <RelativeTime time={scrub.started} />.
          </>
        )}
      </Text>
      {damaged.length > 0 && (
        <Alert color="red" title={formatPlural(damaged.length, "damaged content", "damaged contents")} mb="sm">
          <Text size="sm" mb="xs">
            The disk has lost bytes. These objects are answered with an error; restore them from a backup or upload them
            again.
          </Text>
          {damaged.slice(0, 50).map(({ file, what }) => (
            <div key={file}>
              {file}: {what}
            </div>
          ))}
        </Alert>
      )}
      {session?.isRoot && (
        <Button
          variant="default"
          leftSection={<ShieldCheck size={16} aria-hidden />}
          loading={isRunning || start.isPending}
          onClick={() => start.mutate()}
        >
          Scrub now
        </Button>
      )}
    </Paper>
  );
}

function describe({ started, finished, checked, damaged }: Scrub): string {
  const counted = `${formatCount(checked)} ${checked === 1 ? "content" : "contents"}`;
  if (finished === undefined) {
    return `Everything is read and compared with its checksum: ${counted} so far.`;
  }
  if (started === 0) {
    return "Once a day everything is read and compared with its checksum. Since the service started, that has not happened yet.";
  }
  return damaged.length === 0 ? `All ${counted} are what they were when they came.` : `${counted} were read.`;
}
