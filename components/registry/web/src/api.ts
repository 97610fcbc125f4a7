import { request, requestJson, scheduleDeletion } from "@swath/ui";
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";

const BASE = "/api/v2.0";
const PAGE_SIZE = 100;
/** A project called `7` is not the seventh. */
const HEADERS = { "x-is-resource-name": "true" };

type Method = "POST" | "PUT" | "PATCH" | "DELETE";

export function projectApi(project: string, below = ""): string {
  return `/projects/${encodeURIComponent(project)}${below}`;
}

/** `repository` without its project. */
export function repositoryApi(project: string, repository: string, below = ""): string {
  return projectApi(project, `/repositories/${encodeURIComponent(repository)}${below}`);
}

export function artifactApi(project: string, repository: string, reference: string, below = ""): string {
  return repositoryApi(project, repository, `/artifacts/${encodeURIComponent(reference)}${below}`);
}

/** The address of a path of the REST API. */
export function toUrl(path: string): string {
  return `${BASE}${path}`;
}

export function read<T>(path: string): Promise<T> {
  return requestJson<T>(toUrl(path), { headers: HEADERS });
}

export function change<T = unknown>(method: Method, path: string, body?: unknown): Promise<T> {
  return requestJson<T>(toUrl(path), { method, headers: HEADERS, ...(body !== undefined && { body }) });
}

/** Deletes what is at a path after some seconds, unless it is called off. */
export function deleteLater(path: string, what: string, onSettled: () => void): void {
  scheduleDeletion({ what, url: toUrl(path), headers: HEADERS, onSettled });
}

interface Part<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

/** A list that comes in pages. */
export function usePages<T>(
  key: readonly unknown[],
  path: string,
): UseInfiniteQueryResult<InfiniteData<Part<T>>> & { readonly rows: readonly T[]; readonly total: number } {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: 1,
    queryFn: async ({ pageParam, signal }) => {
      const url = `${toUrl(path)}${path.includes("?") ? "&" : "?"}page=${pageParam}&page_size=${PAGE_SIZE}`;
      const response = await request(url, { headers: HEADERS, signal });
      return {
        rows: (await response.json()) as readonly T[],
        total: Number(response.headers.get("x-total-count") ?? 0),
      };
    },
    getNextPageParam: ({ total }, parts) => (parts.length * PAGE_SIZE < total ? parts.length + 1 : undefined),
  });
  const parts = query.data?.pages ?? [];
  return { ...query, rows: parts.flatMap(({ rows }) => rows), total: parts[0]?.total ?? 0 };
}
