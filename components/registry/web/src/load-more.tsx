import { Button } from "@mantine/core";

interface LoadMoreProps {
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}

/** The next page of a list, where there is one. */
export function LoadMore({ list: { hasNextPage, isFetchingNextPage, fetchNextPage } }: LoadMoreProps) {
  return hasNextPage ? (
    <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      Show more
    </Button>
  ) : null;
}
