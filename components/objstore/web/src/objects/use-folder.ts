import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import { type Entry, type ListPage, listPage } from "../s3/list.ts";

/** Pages that are fetched without being asked for: 20,000 entries. */
const PAGES_AT_ONCE = 20;

interface Folder {
  readonly entries: readonly Entry[] | undefined;
  readonly error: unknown;
  /** More pages are on their way. */
  readonly isLoading: boolean;
  /** There is more, which has to be asked for. */
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly refetch: () => void;
}

/** The entries of a folder, which arrive a thousand at a time. */
export function useFolder(bucket: string, prefix: string): Folder {
  const query = useInfiniteQuery<ListPage, Error, InfiniteData<ListPage>, readonly string[], string | undefined>({
    queryKey: ["objects", bucket, prefix],
    queryFn: ({ pageParam: token, signal }) => listPage({ bucket, prefix, token, signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next,
  });
  const { data, error, hasNextPage, isFetchingNextPage, isFetching, fetchNextPage, refetch } = query;
  const count = data?.pages.length ?? 0;
  const goesOn = hasNextPage && count % PAGES_AT_ONCE !== 0;
  useEffect(() => {
    if (goesOn && !isFetching && !error) {
      void fetchNextPage();
    }
  }, [goesOn, isFetching, error, fetchNextPage]);
  const entries = useMemo(() => data?.pages.flatMap((page) => page.entries), [data]);
  return {
    entries,
    error,
    isLoading: isFetchingNextPage || goesOn,
    hasMore: hasNextPage && !goesOn,
    loadMore: () => void fetchNextPage(),
    refetch: () => void refetch(),
  };
}
