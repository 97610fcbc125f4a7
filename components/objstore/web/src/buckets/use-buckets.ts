import { requestJson } from "@swath/ui";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";

/** A bucket as the administration API gives it. */
export interface Bucket {
  readonly name: string;
  readonly owner: string;
  readonly created: string;
  readonly versioning: "Off" | "Enabled" | "Suspended";
  readonly objects: number;
  /** Of all versions. */
  readonly bytes: number;
  /** Of uploads that are not finished. */
  readonly uploadBytes: number;
  readonly quotaBytes: number | null;
  readonly policy: object | null;
}

export function useBuckets(): UseQueryResult<readonly Bucket[]> {
  return useQuery({
    queryKey: ["buckets"],
    queryFn: async () => (await requestJson<{ buckets: Bucket[] }>("/api/buckets")).buckets,
  });
}

export function useBucket(name: string): UseQueryResult<Bucket> {
  return useQuery({
    queryKey: ["buckets", name],
    queryFn: () => requestJson<Bucket>(`/api/buckets/${encodeURIComponent(name)}`),
  });
}

/** Path of a bucket in the administration API. */
export function bucketApi(name: string, below = ""): string {
  return `/api/buckets/${encodeURIComponent(name)}${below}`;
}
