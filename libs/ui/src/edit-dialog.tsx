import { Modal, Stack } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";

import { DialogButtons } from "./dialog-buttons.tsx";
import { ErrorNote } from "./states.tsx";

interface EditDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly save: { readonly mutate: () => void; readonly error: Error | null; readonly isPending: boolean };
  /** Whether what is written can be saved. */
  readonly isReady: boolean;
  readonly children: ReactNode;
}

/** A dialog with a form, and what went wrong when it was saved. */
export function EditDialog({ opened, onClose, title, save, isReady, children }: EditDialogProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      save.mutate();
    }
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack>
          {save.error && <ErrorNote error={save.error} title="Not saved" />}
          {children}
          <DialogButtons label="Save" onCancel={onClose} isBusy={save.isPending} isReady={isReady} />
        </Stack>
      </form>
    </Modal>
  );
}
