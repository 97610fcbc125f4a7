import { Button, Group, Paper, Stack } from "@mantine/core";
import { ErrorNote } from "@swath/ui";
import type { FormEvent, ReactNode } from "react";
import { Link } from "react-router";

import type { FieldErrors } from "../model/edit.ts";

interface RecordFormProps {
  readonly label: string;
  readonly save: {
    readonly mutate: () => void;
    readonly error: Error | null;
    readonly isPending: boolean;
  };
  /** What the service said, by field; the rest under "". */
  readonly refused: FieldErrors;
  /** Whether the form itself finds nothing wrong. */
  readonly isValid: boolean;
  /** Called when something is wrong that the form knows, so that the fields show it. */
  readonly onInvalid: () => void;
  readonly back: string;
  readonly children: ReactNode;
}

/** A form of a record: what is wrong is shown at its fields, the rest above. */
export function RecordForm({ label, save, refused, isValid, onInvalid, back, children }: RecordFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) {
      save.mutate();
    } else {
      onInvalid();
    }
  };
  const isShownAtFields = Object.keys(refused).length > 0 && refused[""] === undefined;
  return (
    <Paper withBorder p="lg" maw={760} component="form" onSubmit={submit} noValidate aria-label={label}>
      <Stack>
        {save.error !== null && !isShownAtFields && <ErrorNote error={save.error} title="Not saved" />}
        {children}
        <Group justify="flex-end">
          <Button component={Link} to={back} variant="default">
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
