import { Button } from "@mantine/core";
import { notifyDone, notifyFailed, useConfirm } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useNavigate } from "react-router";

import { deleteRecord } from "../api/edit.ts";

interface DeleteRecordProps {
  readonly address: string;
  readonly id: string;
  /** What goes with it. */
  readonly warning: string;
  /** Where to go afterwards. */
  readonly next: string;
}

/** Deletes a collection or an item, once its id has been typed. */
export function DeleteRecord({ address, id, warning, next }: DeleteRecordProps) {
  const confirm = useConfirm();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteRecord(address),
    onSuccess: async () => {
      await navigate(next);
      notifyDone(`Deleted ${id}`);
      // The page that is being left would read what is gone.
      const isOfRecord = (key: readonly unknown[]) => key.includes(id) || key.includes(address);
      await client.invalidateQueries({ queryKey: ["catalogue"], predicate: ({ queryKey }) => !isOfRecord(queryKey) });
    },
    onError: (error) => notifyFailed(`${id} was not deleted`, error),
  });
  const send = async () => {
    if (await confirm({ title: `Delete ${id}?`, body: warning, action: "Delete", danger: true, typed: id })) {
      remove.mutate();
    }
  };
  return (
    <Button
      variant="default"
      color="red"
      leftSection={<Trash2 size={16} aria-hidden />}
      loading={remove.isPending}
      onClick={() => void send()}
    >
      Delete
    </Button>
  );
}
