import { useMutation, useQueryClient } from "@tanstack/react-query";

import { notifyFailed } from "./notify.ts";

interface Change<Row> {
  /** Asks the service for the change. @throws {RequestError} */
  readonly request: (row: Row) => Promise<unknown>;
  /** What to say when it did not happen. */
  readonly failed: string;
  /** Lists that are read again afterwards, whatever came of it. */
  readonly lists: readonly string[];
}

/** A change of one row of a list, made at once. The function stays the same from one rendering to the next. */
export function useChange<Row>({ request, failed, lists }: Change<Row>): (row: Row) => void {
  const client = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: request,
    onError: (error) => notifyFailed(failed, error),
    onSettled: () => Promise.all(lists.map((list) => client.invalidateQueries({ queryKey: [list] }))),
  });
  return mutate;
}
