import { RequestError } from "@swath/ui";

import { createProcessingClient } from "../../processing/api/processing-client.ts";
import { type UserUse, summarizeUse } from "../admin/use/summarize-use.ts";
import { listUsers } from "./admin.ts";
import { listWorkspaces, readWorkspace } from "./workspaces.ts";

/** Jobs of one user that are counted. */
const MAX_JOBS = 10_000;
const CONCURRENCY = 4;

/** The use of every user: their jobs of the days, and their workspaces' storage. For administrators. */
export async function readUse(days: readonly string[], services: readonly string[]): Promise<readonly UserUse[]> {
  const workspaces = services.includes("workspace-api") ? await listWorkspaces() : [];
  const users = [...new Set([...((await listUsers()) ?? []), ...workspaces.map(({ owner }) => owner)])];
  const rest = [...users];
  const found: UserUse[] = [];
  const readNext = async (): Promise<void> => {
    for (let username = rest.shift(); username !== undefined; username = rest.shift()) {
      const own = workspaces.filter(({ owner }) => owner === username);
      const records = await Promise.all(own.map(({ name }) => readWorkspace(name)));
      const bytes = records.reduce((sum, { storage }) => sum + (storage?.usage?.bytes ?? 0), 0);
      const jobs = services.includes("ades") ? await readJobs(username, days[0] ?? "") : [];
      found.push(summarizeUse(username, { jobs, bytes }, days, Date.now()));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, readNext));
  return found.filter(
    ({ jobs, bytes, username }) => jobs > 0 || bytes > 0 || workspaces.some(({ owner }) => owner === username),
  );
}

async function readJobs(username: string, from: string) {
  const filter = { processes: [], statuses: [], from };
  try {
    return (await createProcessingClient(username).listJobs(filter, { limit: MAX_JOBS, skip: 0 })).jobs;
  } catch (error) {
    // Who never processed has no space.
    if (error instanceof RequestError && error.status === 404) {
      return [];
    }
    throw error;
  }
}
