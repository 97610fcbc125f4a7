import { Alert, Button, FileButton, Group, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { ErrorNote, Loading, Page, notifyDone } from "@swath/ui";
import { useMutation, useQuery } from "@tanstack/react-query";
import { CircleCheck, FileUp, Link2, Rocket, Sparkles } from "lucide-react";
import { type FormEvent, useEffect, Suspense, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";

import { type PackageSource, problemsOf } from "../api/processing-client.ts";
import { packageQuery, useProcessing, useRefresh } from "../api/processing.ts";
import { TEMPLATE } from "../model/package-template.ts";
import { CwlEditor } from "../parts/lazy-parts.tsx";
import { Parameters } from "../parts/parameters.tsx";
import { ProblemList } from "../parts/problem-list.tsx";
import { Trail } from "../parts/trail.tsx";
import { useSettled } from "../parts/use-settled.ts";
import { Workflow } from "../parts/workflow.tsx";

/** Packages are texts that people write; the service takes none that is larger. */
const LARGEST = 5 * 1024 * 1024;

/** A package is written, pasted, taken from a file or an address; its mistakes are shown while it is; then it is deployed. */
export function Component() {
  const client = useProcessing();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [query] = useSearchParams();
  const replaced = query.get("replace") ?? undefined;
  const [text, setText] = useState("");
  // Where the text is from, as long as nobody changed it.
  const [origin, setOrigin] = useState<string>();
  const [workflow, setWorkflow] = useState<string>();
  const [place, setPlace] = useState<{ line: number; column?: number }>();
  const before = useQuery({ ...packageQuery(client, replaced ?? ""), enabled: replaced !== undefined });
  // The package that is to be replaced is what people begin with.
  const [begunWith, setBegunWith] = useState<string>();
  if (before.data !== undefined && begunWith !== replaced) {
    setBegunWith(replaced);
    setText(before.data);
  }

  const settled = useSettled(text, 400);
  const check = useQuery({
    queryKey: ["package-check", settled, workflow],
    queryFn: () => client.checkPackage({ text: settled }, workflow),
    enabled: settled.trim() !== "",
    placeholderData: (previous) => previous,
    retry: false,
  });
  const report = text.trim() === "" ? undefined : check.data;
  const source: PackageSource = origin === undefined ? { text } : { href: origin };
  const deploy = useMutation({
    mutationFn: async () => {
      if (replaced !== undefined) {
        await client.replace(replaced, source, workflow);
        return replaced;
      }
      return (await client.deploy(source, workflow)).id;
    },
    onSuccess: async (id) => {
      notifyDone(replaced === undefined ? `${id} is deployed.` : `${id} is replaced.`);
      await refresh();
      await navigate(`/processing/processes/${encodeURIComponent(id)}`);
    },
  });
  const edit = (changed: string) => {
    if (changed !== text) {
      setText(changed);
      setOrigin(undefined);
      setWorkflow(undefined);
      deploy.reset();
    }
  };
  const load = (loaded: string, from?: string) => {
    setText(loaded);
    setOrigin(from);
    setWorkflow(undefined);
    deploy.reset();
  };
  const problems = report?.problems ?? problemsOf(deploy.error);
  const isReady = report?.valid === true && settled === text && !check.isFetching;
  const id = report?.process?.id;
  const title = replaced === undefined ? "Deploy a package" : `Replace ${replaced}`;
  return (
    <Page
      title={title}
      above={<Trail steps={[{ to: "/processing/processes", label: "Processes" }, { label: title }]} />}
      about="An application package in CWL: a workflow, and the programs that its steps run."
    >
      <SourceBar onLoad={load} isEmpty={text === ""} />
      <Suspense fallback={<Loading what="Loading the editor" />}>
        <CwlEditor label="Package in CWL" value={text} onChange={edit} problems={problems} goTo={place} />
      </Suspense>
      {check.error && (
        <ErrorNote title="The package was not checked" error={check.error} onRetry={() => void check.refetch()} />
      )}
      {report !== undefined && report.workflows.length > 1 && (
        <Select
          label="Workflow"
          description="The package holds several; each is deployed as a process of its own."
          data={report.workflows}
          value={workflow ?? report.workflows[0] ?? null}
          onChange={(value) => setWorkflow(value ?? undefined)}
          maw={360}
          allowDeselect={false}
        />
      )}
      <div role="status" aria-live="polite">
        {report !== undefined && (
          <Alert
            color={report.valid ? "green" : "red"}
            variant="light"
            icon={report.valid ? <CircleCheck aria-hidden /> : undefined}
            title={
              report.valid
                ? `Valid: ${report.process?.title ?? id}, version ${report.process?.version ?? ""}`
                : `Not valid: ${countErrors(problems)}`
            }
          >
            {problems.length > 0 && <ProblemList problems={problems} onGoTo={setPlace} />}
          </Alert>
        )}
      </div>
      {deploy.error && <ErrorNote title="Not deployed" error={deploy.error} />}
      {replaced !== undefined && id !== undefined && id !== replaced && (
        <Alert color="red" variant="light">
          The package is of the process {id}, not of {replaced}. Its workflow must keep the name.
        </Alert>
      )}
      <Group>
        <Button
          leftSection={<Rocket size={16} aria-hidden />}
          disabled={!isReady || (replaced !== undefined && id !== replaced)}
          loading={deploy.isPending}
          onClick={() => deploy.mutate()}
        >
          {replaced === undefined ? "Deploy" : "Replace"}
        </Button>
        {text.trim() === "" && (
          <Text size="sm" c="dimmed">
            Nothing to deploy yet.
          </Text>
        )}
      </Group>
      {report?.graph !== undefined && report.process !== undefined && (
        <Stack>
          <Title order={2}>What it will do</Title>
          <Workflow graph={report.graph} />
          <Paper withBorder p="sm">
            <Parameters inputs={report.process.inputs} outputs={report.process.outputs} />
          </Paper>
        </Stack>
      )}
    </Page>
  );
}

function countErrors(problems: readonly { readonly severity: string }[]): string {
  const count = problems.filter(({ severity }) => severity === "error").length;
  return count === 1 ? "one mistake" : `${count} mistakes`;
}

interface SourceBarProps {
  readonly isEmpty: boolean;
  readonly onLoad: (text: string, from?: string) => void;
}

/** Where a package may come from, besides being written. */
function SourceBar({ isEmpty, onLoad }: SourceBarProps) {
  const client = useProcessing();
  // `?href=` of another page: fetched at once.
  const [query] = useSearchParams();
  const provided = query.get("href") ?? "";
  const [address, setAddress] = useState(provided);
  const [fileError, setFileError] = useState<string>();
  const fetched = useMutation({
    mutationFn: (href: string) => client.checkPackage({ href }),
    onSuccess: (report) => onLoad(report.package, report.reference),
  });
  const { mutate } = fetched;
  useEffect(() => {
    if (provided !== "") {
      mutate(provided);
    }
  }, [provided, mutate]);
  const fetchIt = (event: FormEvent) => {
    event.preventDefault();
    if (address.trim() !== "") {
      fetched.mutate(address.trim());
    }
  };
  const openFile = async (file: File | null) => {
    setFileError(undefined);
    if (file === null) {
      return;
    }
    if (file.size > LARGEST) {
      setFileError(`${file.name} is larger than 5 MiB; a package is a text.`);
      return;
    }
    onLoad(await file.text());
  };
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="sm">
        <form onSubmit={fetchIt} style={{ flex: "1 1 22rem" }}>
          <Group align="flex-end" gap="xs" wrap="nowrap">
            <TextInput
              label="Address of a package"
              description="https:// or s3://; a workflow of it after #"
              placeholder="https://example.org/app.cwl#workflow"
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value)}
              style={{ flex: 1 }}
            />
            <Button
              type="submit"
              variant="default"
              loading={fetched.isPending}
              leftSection={<Link2 size={16} aria-hidden />}
            >
              Fetch
            </Button>
          </Group>
        </form>
        <FileButton onChange={(file) => void openFile(file)} accept=".cwl,.yaml,.yml,.json,application/cwl">
          {(props) => (
            <Button {...props} variant="default" leftSection={<FileUp size={16} aria-hidden />}>
              Open a file
            </Button>
          )}
        </FileButton>
        {isEmpty && (
          <Button variant="default" leftSection={<Sparkles size={16} aria-hidden />} onClick={() => onLoad(TEMPLATE)}>
            Start from a template
          </Button>
        )}
      </Group>
      {fetched.error && <ErrorNote title="The package was not fetched" error={fetched.error} />}
      {fileError !== undefined && (
        <Alert color="red" variant="light" role="alert">
          {fileError}
        </Alert>
      )}
    </Stack>
  );
}
