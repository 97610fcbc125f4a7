import { type UseQueryResult, useQuery } from "@tanstack/react-query";

import { sendTo } from "../s3/send.ts";

export interface TextSource {
  readonly url: string;
  readonly size: number;
  readonly etag: string;
}

export interface TextStart {
  readonly text: string;
  /** There is more than this. */
  readonly isCut: boolean;
}

/** The beginning of an object as text. Two addresses that were signed within one second are the same: the ETag tells contents apart. */
export function useText({ url, size, etag }: TextSource, limit: number): UseQueryResult<TextStart> {
  return useQuery({
    queryKey: ["preview", url, etag, limit],
    queryFn: async ({ signal }) => {
      const isCut = size > limit;
      const response = await sendTo(url, { signal, ...(isCut && { headers: { range: `bytes=0-${limit - 1}` } }) });
      return { text: await response.text(), isCut };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
