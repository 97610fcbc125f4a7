import { RequestError } from "@swath/ui";
import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import { usePortal } from "../../src/session/portal.ts";
import { type JobFilter, PAGE_ROWS } from "../model/job-filter.ts";
import { findItemPaths, readItem } from "../model/result-items.ts";
import { isActive } from "../model/step-states.ts";
import { type Job, type JobPage, type ProcessingClient, createProcessingClient } from "./processing-client.ts";

/** Milliseconds between two looks at something that changes, and at something that may. */
const BUSY = 1500;
const IDLE = 8000;
/** Items of a result whose documents are read; of more only the files are shown. */
export const MAX_ITEMS = 200;

/** The processing service in the space of who is logged in. */
export function useProcessing(): ProcessingClient {
  const { user } = usePortal();
  return useMemo(() => createProcessingClient(user.username), [user.username]);
}

const root = (client: ProcessingClient) => ["processing", client.username] as const;

export const processesQuery = (client: ProcessingClient) =>
  queryOptions({ queryKey: [...root(client), "processes"], queryFn: client.listProcesses });

export const processQuery = (client: ProcessingClient, id: string) =>
  queryOptions({ queryKey: [...root(client), "process", id], queryFn: () => client.readProcess(id) });

export const graphQuery = (client: ProcessingClient, id: string) =>
  queryOptions({
    queryKey: [...root(client), "process", id, "graph"],
    queryFn: () => client.readGraph(id),
    staleTime: 60_000,
  });

export const packageQuery = (client: ProcessingClient, id: string) =>
  queryOptions({ queryKey: [...root(client), "process", id, "package"], queryFn: () => client.readPackage(id) });

const hasActive = (page: JobPage | undefined) => page?.jobs.some(({ status }) => isActive(status)) === true;

/** One page of the job list, kept current. */
export const jobPageQuery = (client: ProcessingClient, filter: JobFilter, start: number) =>
  queryOptions({
    queryKey: [...root(client), "jobs", filter, start],
    queryFn: () => client.listJobs(filter, { limit: PAGE_ROWS, skip: start }),
    refetchInterval: ({ state: { data } }) => (hasActive(data) ? BUSY : IDLE),
    placeholderData: (before: JobPage | undefined) => before,
  });

export const jobQuery = (client: ProcessingClient, id: string) =>
  queryOptions({
    queryKey: [...root(client), "job", id],
    queryFn: () => client.readJob(id),
    refetchInterval: ({ state: { data, error } }) =>
      isGone(error) || (data !== undefined && !isActive(data.status)) ? false : BUSY,
  });

export const isGone = (error: unknown): boolean => error instanceof RequestError && error.status === 404;

/** The steps of a job; `status` is part of the key, so that the last look is one after its end. */
export const stepsQuery = (client: ProcessingClient, { jobID, status }: Pick<Job, "jobID" | "status">) =>
  queryOptions({
    queryKey: [...root(client), "job", jobID, "steps", isActive(status)],
    queryFn: () => client.readSteps(jobID),
    refetchInterval: isActive(status) ? BUSY : false,
    placeholderData: (before: Awaited<ReturnType<ProcessingClient["readSteps"]>> | undefined) => before,
  });

export const inputsQuery = (client: ProcessingClient, id: string) =>
  queryOptions({
    queryKey: [...root(client), "job", id, "inputs"],
    queryFn: () => client.readInputs(id),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Files, items and plain values of a job that has ended well. */
export const resultQuery = (client: ProcessingClient, id: string) =>
  queryOptions({
    queryKey: [...root(client), "job", id, "result"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const [files, outputs] = await Promise.all([client.listFiles(id), client.readOutputs(id)]);
      const paths = findItemPaths(files);
      const items = await Promise.all(
        paths.slice(0, MAX_ITEMS).map(async (path) => readItem(await client.readDocument(id, path), path, files)),
      );
      return { files, outputs, items: items.filter((item) => item !== undefined), itemCount: paths.length };
    },
  });

/** Has everything of the processing service looked at anew, after something was changed. */
export function useRefresh(): () => Promise<void> {
  const cache = useQueryClient();
  const client = useProcessing();
  return () => cache.invalidateQueries({ queryKey: root(client) });
}
