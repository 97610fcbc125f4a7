import { requestService } from "./services.ts";

/** Status of a job (OGC API Processes, status info). */
export interface JobSummary {
  readonly jobID: string;
  readonly processID: string;
  readonly status: "accepted" | "running" | "successful" | "failed" | "dismissed";
  readonly message?: string;
  readonly progress?: number;
  readonly created: string;
  readonly finished?: string;
}

/** The latest jobs of a user. */
export async function listLatestJobs(username: string, limit: number): Promise<readonly JobSummary[]> {
  const path = `/${encodeURIComponent(username)}/ogc-api/jobs?limit=${limit}`;
  return (await requestService<{ jobs: readonly JobSummary[] }>("ades", path)).jobs;
}
