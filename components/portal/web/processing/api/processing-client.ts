import { type Problem, RequestError } from "@swath/ui";

import { requestService, callService, serviceUrl } from "../../src/api/services.ts";
import { type JobFilter, toJobQuery } from "../model/job-filter.ts";
import { type ProcessDescription, type ProcessSummary, orderParameters } from "../model/process-description.ts";
import type { ResultFile } from "../model/result-items.ts";
import type { JobStatus, StepRecord, Usage } from "../model/step-states.ts";
import type { WorkflowGraph } from "../model/workflow-graph.ts";

/** Status of a job (OGC 18-062r2 §7.12.2). */
export interface Job {
  readonly jobID: string;
  readonly processID: string;
  readonly status: JobStatus;
  readonly message: string;
  readonly progress: number;
  readonly created: string;
  readonly started?: string;
  readonly updated: string;
  readonly finished?: string;
  readonly usage?: Usage;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  /** Left out where there are more than the service counts. */
  readonly numberTotal?: number;
}

/** A mistake or doubt in a package, and where. Lines and columns count from 1. */
export interface PackageProblem {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
}

/** What the service says of a package that is not deployed. */
export interface PackageReport {
  readonly valid: boolean;
  readonly reference: string;
  readonly workflows: readonly string[];
  readonly problems: readonly PackageProblem[];
  readonly process?: ProcessDescription;
  readonly graph?: WorkflowGraph;
  readonly package: string;
}

/** A package as it is handed over: its text, or where it is. */
export type PackageSource = { readonly text: string } | { readonly href: string };

const CWL = { "content-type": "application/cwl+yaml" };
const seg = encodeURIComponent;

/** Everything that the pages ask of the processing service, in one user's space. */
export function createProcessingClient(username: string) {
  const base = `/${seg(username)}/ogc-api`;
  const request = <T>(path: string, options?: Parameters<typeof requestService>[2]) =>
    requestService<T>("ades", base + path, options);
  const send = <T>(path: string, method: "POST" | "PUT", source: PackageSource) =>
    "text" in source
      ? request<T>(path, { method, body: source.text, headers: CWL })
      : request<T>(path, { method, body: { executionUnit: { href: source.href, type: "application/cwl" } } });
  const query = (workflow: string | undefined) => (workflow === undefined ? "" : `?w=${seg(workflow)}`);

  return {
    username,
    listProcesses: async () =>
      (await request<{ processes: readonly ProcessSummary[] }>("/processes?limit=1000")).processes,
    /** With inputs and outputs in the order of the package, which the description does not keep. */
    readProcess: async (id: string) => {
      const [process, graph] = await Promise.all([
        request<ProcessDescription>(`/processes/${seg(id)}`),
        // Without it they come in another order, and that is all.
        request<WorkflowGraph>(`/processes/${seg(id)}/graph`).catch(() => undefined),
      ]);
      return graph === undefined ? process : orderParameters(process, graph);
    },
    readGraph: (id: string) => request<WorkflowGraph>(`/processes/${seg(id)}/graph`),
    readPackage: async (id: string) =>
      (await callService("ades", `${base}/processes/${seg(id)}/package`, { headers: { accept: "*/*" } })).text(),
    checkPackage: async (source: PackageSource, workflow?: string) => {
      const report = await send<PackageReport>(`/packages/check${query(workflow)}`, "POST", source);
      return "text" in source ? withoutReference(report) : report;
    },
    deploy: (source: PackageSource, workflow?: string) =>
      send<ProcessSummary>(`/processes${query(workflow)}`, "POST", source),
    replace: (id: string, source: PackageSource, workflow?: string) =>
      send<void>(`/processes/${seg(id)}${query(workflow)}`, "PUT", source),
    undeploy: (id: string) => request<void>(`/processes/${seg(id)}`, { method: "DELETE" }),

    /** Gives the job, or the outputs of a process that answers at once. */
    execute: async (id: string, inputs: Readonly<Record<string, unknown>>): Promise<Started> => {
      const response = await callService("ades", `${base}/processes/${seg(id)}/execution`, {
        method: "POST",
        body: { inputs, response: "document" },
        headers: { prefer: "respond-async" },
      });
      const body = (await response.json()) as Job;
      return response.status === 201 ? { job: body } : { outputs: body as unknown as Record<string, unknown> };
    },
    listJobs: (filter: JobFilter, page: { readonly limit: number; readonly skip: number }) =>
      request<JobPage>(`/jobs?${toJobQuery(filter, page)}`),
    readJob: (id: string) => request<Job>(`/jobs/${seg(id)}`),
    readSteps: async (id: string) => (await request<{ steps: readonly StepRecord[] }>(`/jobs/${seg(id)}/steps`)).steps,
    readInputs: async (id: string) =>
      (await request<{ inputs: Readonly<Record<string, unknown>> }>(`/jobs/${seg(id)}/inputs`)).inputs,
    /** By the earlier face, which answers with one JSON document however the job was asked for. */
    readOutputs: (id: string) =>
      requestService<Readonly<Record<string, unknown>>>("ades", `/${seg(username)}/wps3/jobs/${seg(id)}/result`),
    listFiles: async (id: string) => (await request<{ files: readonly ResultFile[] }>(`/jobs/${seg(id)}/files`)).files,
    readDocument: (id: string, path: string) => request<unknown>(`/jobs/${seg(id)}/files/${toPath(path)}`),
    /** Ends a job, or forgets one that has ended. */
    dismiss: (id: string) => request<Job>(`/jobs/${seg(id)}`, { method: "DELETE" }),

    /** Address of a file of a job's results, on the portal's own host; parts of it can be asked for. */
    fileUrl: (id: string, path: string, { download = false } = {}) =>
      serviceUrl("ades", `${base}/jobs/${seg(id)}/files/${toPath(path)}${download ? "?download" : ""}`),
    /** The whole log as a text. */
    logUrl: (id: string) => serviceUrl("ades", `${base}/jobs/${seg(id)}/logs`),
    /** The log as server-sent events. */
    followLog: (id: string, signal: AbortSignal) =>
      callService("ades", `${base}/jobs/${seg(id)}/logs`, { headers: { accept: "text/event-stream" }, signal }),
  };
}

export type ProcessingClient = ReturnType<typeof createProcessingClient>;

export interface Started {
  readonly job?: Job;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** What the service says where a package has no address. */
const NO_ADDRESS = "https://package.invalid/package.cwl";

/** A text has no address; the one that the service made up for it would tell nobody anything. */
function withoutReference({ problems, ...report }: PackageReport): PackageReport {
  const plain = (message: string) => message.replaceAll(NO_ADDRESS, "the package");
  return { ...report, problems: problems.map((problem) => ({ ...problem, message: plain(problem.message) })) };
}

const toPath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** The mistakes that a refused package or execution has. */
export function problemsOf(error: unknown): readonly PackageProblem[] {
  const errors: Problem["errors"] = error instanceof RequestError ? error.problem.errors : undefined;
  return (errors ?? []).map((problem) => ({
    severity: "error",
    message: problem.message ?? "",
    ...(problem as Partial<PackageProblem>),
  }));
}
