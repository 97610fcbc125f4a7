import type { ItemPage, StacItem } from "@swath/ui/stac";

import { listLatestJobs } from "./jobs.ts";
import { requestService } from "./services.ts";

/** Jobs whose results are looked for. */
const JOBS = 20;

const search = async (body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<readonly StacItem[]> =>
  (await requestService<ItemPage>("resource-catalogue", "/stac/search", { method: "POST", body, signal })).features;

/** The newest scenes; results of jobs are no scenes. */
export async function listLatestScenes(limit: number, signal: AbortSignal): Promise<readonly StacItem[]> {
  const items = await search(
    { limit: limit * 4, sortby: [{ field: "properties.datetime", direction: "desc" }] },
    signal,
  );
  return items.filter(({ collection = "" }) => !isJobCollection(collection)).slice(0, limit);
}

/** The results of a user's latest jobs, the latest first. */
export async function listLatestResults(
  username: string,
  limit: number,
  signal: AbortSignal,
): Promise<readonly StacItem[]> {
  const jobs = (await listLatestJobs(username, JOBS)).filter(({ status }) => status === "successful");
  if (jobs.length === 0) {
    return [];
  }
  const order = new Map(jobs.map(({ jobID }, index) => [jobID, index]));
  const items = await search({ collections: [...order.keys()], limit: 100 }, signal);
  const rankOf = ({ collection = "" }: StacItem) => order.get(collection) ?? JOBS;
  return items.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, limit);
}

/** Results of a job are a collection that has the job's id. */
const isJobCollection = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
