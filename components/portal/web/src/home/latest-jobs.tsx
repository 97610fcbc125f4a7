import { Anchor, Button, Card, Group, Progress, Stack, Text } from "@mantine/core";
import { Awaited, Empty, RelativeTime, RequestError } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Cpu } from "lucide-react";
import { Link } from "react-router";

import { StatusBadge } from "../../processing/parts/status-badge.tsx";
import { type JobSummary, listLatestJobs } from "../api/jobs.ts";
import { usePortal } from "../session/portal.ts";
import { Section } from "./section.tsx";

const SHOWN = 5;

/** What ran last; looked at more often while something runs. */
export function LatestJobs() {
  const { user } = usePortal();
  const jobs = useQuery({
    queryKey: ["latest-jobs", user.username],
    queryFn: () => listLatestJobs(user.username, SHOWN),
    refetchInterval: ({ state: { data } }) => (data?.some(isOpen) ? 2000 : 15_000),
  });
  return (
    <Section
      title="My latest jobs"
      aside={
        <Anchor component={Link} to="/processing/jobs" size="sm">
          All jobs
        </Anchor>
      }
    >
      {jobs.error instanceof RequestError && jobs.error.status === 403 ? (
        <Empty compact title="No space for your jobs" icon={Cpu}>
          You may not use the processing service; an administrator can let you.
        </Empty>
      ) : (
        <Awaited query={jobs} what="Loading jobs">
          {(found) =>
            found.length === 0 ? (
              <Empty
                compact
                title="No jobs yet"
                icon={Cpu}
                action={
                  <Button component={Link} to="/processing">
                    Run a process
                  </Button>
                }
              >
                Deploy an application package, choose a scene, and watch it run.
              </Empty>
            ) : (
              <Card withBorder padding={0} component="ul" m={0}>
                {found.map((job) => (
                  <JobRow key={job.jobID} job={job} />
                ))}
              </Card>
            )
          }
        </Awaited>
      )}
    </Section>
  );
}

function JobRow({ job }: { readonly job: JobSummary }) {
  const { jobID, processID, status, created, progress } = job;
  return (
    <Card.Section component="li" withBorder inheritPadding py="xs" px="md" m={0} style={{ listStyle: "none" }}>
      <Stack gap={4}>
        <Group justify="space-between" wrap="nowrap">
          <Anchor component={Link} to={`/processing/jobs/${jobID}`} truncate>
            {processID}
          </Anchor>
          <StatusBadge status={status} />
        </Group>
        <Text size="xs" c="dimmed">
          <RelativeTime time={created} />
        </Text>
        {status === "running" && <Progress value={progress ?? 0} size="xs" aria-label={`Progress of ${processID}`} />}
      </Stack>
    </Card.Section>
  );
}

function isOpen({ status }: JobSummary): boolean {
  return status === "accepted" || status === "running";
}
