import { type UseQueryResult, useQuery } from "@tanstack/react-query";

import { sendTo } from "../s3/send.ts";

export interface TextStart {
  readonly text: string;
  /** There is more than this. */
  readonly isCut: boolean;
}

/** The beginning of an object as text. */
export function useText(url: string, size: number, limit: number): UseQueryResult<TextStart> {
  return useQuery({
    queryKey: ["preview", url, limit],
    queryFn: async ({ signal }) => {
      const isCut = size > limit;
      const answer = await sendTo(url, { signal, ...(isCut && { headers: { range: `bytes=0-${limit - 1}` } }) });
      return { text: await answer.text(), isCut };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
