import { Badge, Button, Group, Menu, Paper, Tabs } from "@mantine/core";
import { Awaited, Loading, Page, notifyDone, notifyFailed, useConfirm } from "@swath/ui";
import { useMutation, useQuery } from "@tanstack/react-query";
import { EllipsisVertical, Play, RefreshCw, Trash2 } from "lucide-react";
import { Suspense } from "react";
import { Link, useNavigate, useParams } from "react-router";

import { graphQuery, isGone, packageQuery, processQuery, useProcessing, useRefresh } from "../api/processing.ts";
import { JobTable } from "../parts/job-table.tsx";
import { CwlEditor } from "../parts/lazy-parts.tsx";
import { NoSuchProcess } from "../parts/no-such-process.tsx";
import { Parameters } from "../parts/parameters.tsx";
import { Trail } from "../parts/trail.tsx";
import { Workflow } from "../parts/workflow.tsx";

/** A process: its workflow, what it takes and gives, its package, what was run of it. */
export function Component() {
  const { id = "" } = useParams();
  const client = useProcessing();
  const process = useQuery(processQuery(client, id));
  const isOwn = process.data?.mutable !== false;
  const breadcrumbs = <Trail steps={[{ to: "/processing/processes", label: "Processes" }, { label: id }]} />;
  return (
    <Page
      title={process.data?.title ?? id}
      above={breadcrumbs}
      about={process.data?.description}
      actions={
        process.data && (
          <>
            <Button
              component={Link}
              to={`/processing/processes/${encodeURIComponent(id)}/run`}
              leftSection={<Play size={16} aria-hidden />}
            >
              Run
            </Button>
            {isOwn && <MoreActions id={id} />}
          </>
        )
      }
    >
      {isGone(process.error) ? (
        <NoSuchProcess />
      ) : (
        <Awaited query={process} what="Reading the process">
          {(found) => (
            <>
              <Group gap="xs">
                <Badge variant="default">version {found.version}</Badge>
                {!isOwn && <Badge variant="default">built in</Badge>}
              </Group>
              <Tabs defaultValue={isOwn ? "workflow" : "parameters"} keepMounted={false}>
                <Tabs.List aria-label="About the process">
                  {isOwn && <Tabs.Tab value="workflow">Workflow</Tabs.Tab>}
                  <Tabs.Tab value="parameters">Inputs and outputs</Tabs.Tab>
                  {isOwn && <Tabs.Tab value="package">Package</Tabs.Tab>}
                  {isOwn && <Tabs.Tab value="jobs">Jobs</Tabs.Tab>}
                </Tabs.List>
                <Tabs.Panel value="workflow" pt="md">
                  <Graph id={id} />
                </Tabs.Panel>
                <Tabs.Panel value="parameters" pt="md">
                  <Paper withBorder p="sm">
                    <Parameters inputs={found.inputs} outputs={found.outputs} />
                  </Paper>
                </Tabs.Panel>
                <Tabs.Panel value="package" pt="md">
                  <PackageText id={id} />
                </Tabs.Panel>
                <Tabs.Panel value="jobs" pt="md">
                  <JobTable filter={{ processes: [id], statuses: [] }} label={`Jobs of ${id}`} />
                </Tabs.Panel>
              </Tabs>
            </>
          )}
        </Awaited>
      )}
    </Page>
  );
}

function Graph({ id }: { readonly id: string }) {
  const graph = useQuery(graphQuery(useProcessing(), id));
  return (
    <Awaited query={graph} what="Reading the workflow">
      {(found) => <Workflow graph={found} />}
    </Awaited>
  );
}

function PackageText({ id }: { readonly id: string }) {
  const text = useQuery(packageQuery(useProcessing(), id));
  return (
    <Awaited query={text} what="Reading the package">
      {(found) => (
        <Suspense fallback={<Loading what="Loading the editor" />}>
          <CwlEditor label={`Package of ${id}`} value={found} />
        </Suspense>
      )}
    </Awaited>
  );
}

function MoreActions({ id }: { readonly id: string }) {
  const client = useProcessing();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const confirm = useConfirm();
  const undeploy = useMutation({
    mutationFn: () => client.undeploy(id),
    onSuccess: async () => {
      notifyDone(`${id} is undeployed.`);
      await navigate("/processing/processes");
      await refresh();
    },
    onError: (error) => notifyFailed(`${id} is not undeployed`, error),
  });
  const send = async () => {
    const isSure = await confirm({
      title: `Undeploy ${id}?`,
      body: "It can no longer be run. Jobs that run go on, and their results stay.",
      action: "Undeploy",
      danger: true,
    });
    if (isSure) {
      undeploy.mutate();
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" px="xs" aria-label="More">
          <EllipsisVertical size={16} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component={Link}
          to={`/processing/deploy?replace=${encodeURIComponent(id)}`}
          leftSection={<RefreshCw size={16} aria-hidden />}
        >
          Change or replace the package
        </Menu.Item>
        <Menu.Item color="red" leftSection={<Trash2 size={16} aria-hidden />} onClick={() => void send()}>
          Undeploy
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
