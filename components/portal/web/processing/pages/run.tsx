import { Alert, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { Awaited, ErrorNote, Page, notifyDone } from "@swath/ui";
import { useMutation, useQuery } from "@tanstack/react-query";
import { CircleCheck, Play } from "lucide-react";
import { type FormEvent, useMemo, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";

import { problemsOf } from "../api/processing-client.ts";
import { inputsQuery, isGone, processQuery, useProcessing, useRefresh } from "../api/processing.ts";
import { FieldInput } from "../fields/field-input.tsx";
import { FormContext } from "../fields/form-context.ts";
import type { Scene } from "../fields/scene-sources.ts";
import { useSceneDocuments } from "../fields/use-scene-documents.ts";
import { parseBox, toPolygon } from "../model/areas.ts";
import { type InputProblem, checkInputs } from "../model/check-inputs.ts";
import { type Kind, toFields } from "../model/form-fields.ts";
import { type Drafts, toDrafts } from "../model/form-values.ts";
import type { ProcessDescription } from "../model/process-description.ts";
import { readForm } from "../model/read-form.ts";
import { NoSuchProcess } from "../parts/no-such-process.tsx";
import { Trail } from "../parts/trail.tsx";

/**
 * The form of a process; with `?from=<job>` as it was filled in for that job, with `?scene=<address>&bbox=` for that
 * scene and area.
 */
export function Component() {
  const { id = "" } = useParams();
  const [query] = useSearchParams();
  const from = query.get("from") ?? undefined;
  const scene = query.get("scene") ?? undefined;
  const bbox = query.get("bbox") ?? undefined;
  const client = useProcessing();
  const process = useQuery(processQuery(client, id));
  const before = useQuery({ ...inputsQuery(client, from ?? ""), enabled: from !== undefined });
  return (
    <Page
      title={`Run ${process.data?.title ?? id}`}
      above={
        <Trail
          steps={[
            { to: "/processing/processes", label: "Processes" },
            { to: `/processing/processes/${encodeURIComponent(id)}`, label: process.data?.title ?? id },
            { label: "Run" },
          ]}
        />
      }
      about={process.data?.description}
    >
      {isGone(process.error) ? (
        <NoSuchProcess />
      ) : (
        <Awaited query={process} what="Reading the process">
          {(found) =>
            from === undefined ? (
              <RunForm
                process={found}
                provided={{
                  ...(scene !== undefined && giveScene(found, scene)),
                  ...(bbox !== undefined && giveArea(found, bbox)),
                }}
              />
            ) : (
              <Awaited query={before} what="Reading what the job was given">
                {(provided) => <RunForm process={found} provided={provided} />}
              </Awaited>
            )
          }
        </Awaited>
      )}
    </Page>
  );
}

/** Fills the first input that takes a scene. */
function giveScene(process: ProcessDescription, scene: string): Readonly<Record<string, unknown>> {
  const takesScene = (kind: Kind): boolean => kind.kind === "address" && kind.of === "scene";
  const fields = toFields(process);
  const field =
    fields.find(({ kind }) => takesScene(kind) || (kind.kind === "list" && takesScene(kind.items))) ??
    fields.find(({ kind }) => kind.kind === "address");
  return field === undefined ? {} : { [field.name]: field.kind.kind === "list" ? [scene] : scene };
}

/** Fills the first input that takes an area: a box, or the polygon around it. */
function giveArea(process: ProcessDescription, bbox: string): Readonly<Record<string, unknown>> {
  const box = parseBox(bbox);
  const field = toFields(process).find(({ kind }) => kind.kind === "box" || kind.kind === "area");
  if (box === undefined || field === undefined) {
    return {};
  }
  return { [field.name]: field.kind.kind === "box" ? bbox : toPolygon(box) };
}

interface RunFormProps {
  readonly process: ProcessDescription;
  readonly provided?: Readonly<Record<string, unknown>>;
}

function RunForm({ process, provided }: RunFormProps) {
  const client = useProcessing();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const fields = useMemo(() => toFields(process), [process]);
  const [drafts, setDrafts] = useState<Drafts>(() => toDrafts(fields, provided));
  const [scenes, setScenes] = useState<ReadonlyMap<string, Scene>>(new Map());
  const [wasTried, setTried] = useState(false);
  const { inputs, problems } = useMemo(() => {
    const read = readForm(fields, drafts);
    return {
      inputs: read.inputs,
      problems: read.problems.length > 0 ? read.problems : checkInputs(process, read.inputs),
    };
  }, [fields, drafts, process]);
  const run = useMutation({
    mutationFn: () => client.execute(process.id, inputs),
    onSuccess: async ({ job }) => {
      if (job !== undefined) {
        notifyDone(`${process.title ?? process.id} is accepted.`);
        await navigate(`/processing/jobs/${job.jobID}`);
        await refresh();
      }
    },
  });
  // Mistakes are shown once somebody tried to run it, and those that only the service found until something is changed.
  const shown: readonly InputProblem[] = wasTried
    ? [...problems, ...problemsOf(run.error).map(({ path = "", message }) => ({ path, message }))]
    : [];
  const errorAt = (path: string) => shown.find((problem) => problem.path === path)?.message;
  const read = useSceneDocuments(inputs, scenes);
  const known = useMemo(() => new Map([...scenes, ...read]), [scenes, read]);
  const form = useMemo(
    () => ({
      errorAt,
      scenes: known,
      noteScenes: (added: readonly Scene[]) =>
        setScenes((known) => new Map([...known, ...added.map((scene) => [scene.href, scene] as const)])),
    }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- errorAt follows `shown`
    [shown, known],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    run.reset();
    const [first] = problems;
    if (first === undefined) {
      run.mutate();
      return;
    }
    focusField(first.path);
  };
  return (
    <FormContext value={form}>
      <form onSubmit={submit} noValidate aria-label={`Inputs of ${process.title ?? process.id}`}>
        <Stack>
          <Paper withBorder p="md">
            <Stack>
              {fields.length === 0 && <Text c="dimmed">This process takes no inputs.</Text>}
              {fields.map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  path={`inputs.${field.name}`}
                  draft={drafts[field.name]}
                  onChange={(draft) => {
                    setDrafts((now) => ({ ...now, [field.name]: draft }));
                    run.reset();
                  }}
                />
              ))}
            </Stack>
          </Paper>
          {shown.length > 0 && (
            <Alert color="red" variant="light" role="alert" title="These inputs do not fit">
              <ul style={{ margin: 0, paddingInlineStart: "1.2rem" }}>
                {shown.map(({ path, message }) => (
                  <li key={`${path} ${message}`}>
                    {path === "" ? "" : `${path.replace(/^inputs\./, "")}: `}
                    {message}
                  </li>
                ))}
              </ul>
            </Alert>
          )}
          {run.error && problemsOf(run.error).length === 0 && <ErrorNote title="Not run" error={run.error} />}
          {run.data?.outputs !== undefined && (
            <Alert
              color="green"
              variant="light"
              icon={<CircleCheck aria-hidden />}
              title="Answered at once"
              role="status"
            >
              <pre style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", margin: 0 }}>
                {JSON.stringify(run.data.outputs, null, 2)}
              </pre>
            </Alert>
          )}
          <Group>
            <Button type="submit" leftSection={<Play size={16} aria-hidden />} loading={run.isPending}>
              Run
            </Button>
          </Group>
        </Stack>
      </form>
    </FormContext>
  );
}

/** Brings the field of a mistake into sight. */
function focusField(path: string): void {
  const parts = [path, path.replace(/\[\d+\].*$/, ""), path.replace(/\.[^.]*$/, "")];
  const found = parts
    .map((part) => document.querySelector(`[data-path="${CSS.escape(part)}"]`))
    .find((node) => node !== null);
  const target =
    found instanceof HTMLInputElement ? found : found?.querySelector<HTMLElement>("input, textarea, button");
  target?.focus();
  target?.scrollIntoView({ block: "center" });
}
