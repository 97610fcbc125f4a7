import {
  Alert,
  Anchor,
  Breadcrumbs,
  Button,
  Checkbox,
  Group,
  Modal,
  ScrollArea,
  Select,
  Stack,
  Tabs,
  Text,
} from "@mantine/core";
import { Awaited, Loading, formatTime } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Folder as FolderIcon } from "lucide-react";
import { type ReactNode, Suspense, lazy, useMemo, useState } from "react";

import { listWorkspaces } from "../../src/api/workspaces.ts";
import { usePortal } from "../../src/session/portal.ts";
import { useProcessing } from "../api/processing.ts";
import { type Scene, readJobScenes, readSceneFolder } from "./scene-sources.ts";

const SceneMap = lazy(async () => ({ default: (await import("./scene-map.tsx")).SceneMap }));

interface ScenePickerProps {
  readonly isMultiple?: boolean;
  /** Every file may be chosen, not only STAC documents. */
  readonly anyFile?: boolean;
  readonly onUse: (scenes: readonly Scene[]) => void;
  readonly onClose: () => void;
}

/** Finds scenes in workspaces and in results of jobs, with their footprints on a map. */
export function ScenePicker({ isMultiple = false, anyFile = false, onUse, onClose }: ScenePickerProps) {
  const { config } = usePortal();
  const [chosen, setChosen] = useState<readonly Scene[]>([]);
  const toggle = (scene: Scene) => {
    const isChosen = chosen.some(({ href }) => href === scene.href);
    setChosen(isChosen ? chosen.filter(({ href }) => href !== scene.href) : isMultiple ? [...chosen, scene] : [scene]);
  };
  const list = { chosen, onToggle: toggle, isMultiple };
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={anyFile ? "Choose a file" : isMultiple ? "Choose scenes" : "Choose a scene"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack>
        <Tabs defaultValue={config.files ? "workspace" : "results"} keepMounted={false}>
          <Tabs.List aria-label="Where to look">
            {config.files && <Tabs.Tab value="workspace">Workspace</Tabs.Tab>}
            <Tabs.Tab value="results">Results of jobs</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="workspace" pt="sm">
            <WorkspaceScenes {...list} anyFile={anyFile} />
          </Tabs.Panel>
          <Tabs.Panel value="results" pt="sm">
            <JobScenes {...list} />
          </Tabs.Panel>
        </Tabs>
        <Group justify="space-between">
          <Text size="sm" c="dimmed" role="status">
            {chosen.length === 0 ? "Nothing chosen." : `${chosen.length} chosen.`}
          </Text>
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              disabled={chosen.length === 0}
              onClick={() => {
                onUse(chosen);
                onClose();
              }}
            >
              Use
            </Button>
          </Group>
        </Group>
      </Stack>
    </Modal>
  );
}

interface ListProps {
  readonly chosen: readonly Scene[];
  readonly onToggle: (scene: Scene) => void;
  readonly isMultiple: boolean;
}

function WorkspaceScenes({ anyFile, ...list }: ListProps & { readonly anyFile: boolean }) {
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces });
  const [name, setName] = useState<string>();
  const [prefix, setPrefix] = useState("");
  const current = name ?? workspaces.data?.find(({ status }) => status === "ready")?.name;
  const folder = useQuery({
    queryKey: ["scenes", current, prefix, anyFile],
    queryFn: () => readSceneFolder(current ?? "", prefix, anyFile),
    enabled: current !== undefined,
  });
  const parts = prefix.split("/").filter((part) => part !== "");
  return (
    <Awaited query={workspaces} what="Reading the workspaces">
      {(found) =>
        current === undefined ? (
          <Text c="dimmed">You have no workspace yet; make one first, and put scenes there.</Text>
        ) : (
          <Stack gap="xs">
            <Group justify="space-between" align="flex-end">
              <Breadcrumbs separatorMargin={6}>
                {["", ...parts].map((part, index) => (
                  <Anchor
                    key={`${index} ${part}`}
                    component="button"
                    type="button"
                    size="sm"
                    onClick={() =>
                      setPrefix(
                        parts
                          .slice(0, index)
                          .map((name) => `${name}/`)
                          .join(""),
                      )
                    }
                  >
                    {index === 0 ? current : part}
                  </Anchor>
                ))}
              </Breadcrumbs>
              {found.length > 1 && (
                <Select
                  aria-label="Workspace"
                  size="xs"
                  data={found.map((workspace) => workspace.name)}
                  value={current}
                  allowDeselect={false}
                  onChange={(value) => {
                    setName(value ?? undefined);
                    setPrefix("");
                  }}
                />
              )}
            </Group>
            <Awaited query={folder} what="Reading the folder">
              {({ folders, scenes }) => (
                <SceneList
                  {...list}
                  scenes={scenes}
                  empty={folders.length > 0 ? undefined : "No scenes here: no STAC document is in this folder."}
                  before={folders.map(({ key, name: label }) => (
                    <Anchor key={key} component="button" type="button" size="sm" onClick={() => setPrefix(key)}>
                      <Group gap="xs" wrap="nowrap" py={4}>
                        <FolderIcon size={16} aria-hidden />
                        {label}
                      </Group>
                    </Anchor>
                  ))}
                />
              )}
            </Awaited>
          </Stack>
        )
      }
    </Awaited>
  );
}

function JobScenes(list: ListProps) {
  const client = useProcessing();
  const jobs = useQuery({
    queryKey: ["scenes", "jobs", client.username],
    queryFn: async () =>
      (await client.listJobs({ processes: [], statuses: ["successful"] }, { limit: 100, skip: 0 })).jobs,
  });
  const [job, setJob] = useState<string>();
  const current = job ?? jobs.data?.[0]?.jobID;
  const scenes = useQuery({
    queryKey: ["scenes", "job", current],
    queryFn: () => readJobScenes(client, current ?? ""),
    enabled: current !== undefined,
  });
  return (
    <Awaited query={jobs} what="Reading the jobs">
      {(found) =>
        found.length === 0 ? (
          <Text c="dimmed">No job has ended well yet.</Text>
        ) : (
          <Stack gap="xs">
            <Select
              label="Job"
              data={found.map(({ jobID, processID, finished, created }) => ({
                value: jobID,
                label: `${processID}, ${formatTime(new Date(finished ?? created))}`,
              }))}
              value={current ?? null}
              allowDeselect={false}
              onChange={(value) => setJob(value ?? undefined)}
            />
            <Awaited query={scenes} what="Reading the results">
              {(items) => <SceneList {...list} scenes={items} empty="This job made no scenes." />}
            </Awaited>
          </Stack>
        )
      }
    </Awaited>
  );
}

interface SceneListProps extends ListProps {
  readonly scenes: readonly Scene[];
  readonly before?: ReactNode;
  readonly empty?: string | undefined;
}

function SceneList({ scenes, chosen, onToggle, isMultiple, before, empty }: SceneListProps) {
  const isChosen = (scene: Scene) => chosen.some(({ href }) => href === scene.href);
  const located = useMemo(() => scenes.filter(({ geometry }) => geometry !== undefined), [scenes]);
  return (
    <>
      <ScrollArea.Autosize mah={240} tabIndex={0} role="region" aria-label="What is here">
        <Stack gap={4} align="flex-start">
          {before}
          {scenes.map((scene) => (
            <Checkbox
              key={scene.href}
              radius={isMultiple ? "sm" : "xl"}
              checked={isChosen(scene)}
              onChange={() => onToggle(scene)}
              label={scene.title}
              description={describeScene(scene)}
            />
          ))}
        </Stack>
      </ScrollArea.Autosize>
      {scenes.length === 0 && empty !== undefined && <Alert variant="light">{empty}</Alert>}
      {located.length > 0 && (
        <Suspense fallback={<Loading what="Loading the map" />}>
          <SceneMap
            scenes={located}
            chosen={chosen}
            onToggle={(href) => {
              const scene = located.find((candidate) => candidate.href === href);
              if (scene !== undefined) {
                onToggle(scene);
              }
            }}
          />
        </Suspense>
      )}
    </>
  );
}

function describeScene({ kind, time, assets }: Scene): string {
  const when = time === undefined ? [] : [formatTime(new Date(time))];
  const what = kind === "item" ? (assets.length > 0 ? [`bands and files: ${assets.join(", ")}`] : []) : [kind];
  return [...when, ...what].join(" · ");
}
