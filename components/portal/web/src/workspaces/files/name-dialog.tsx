import { TextInput } from "@mantine/core";
import { EditDialog } from "@swath/ui";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

interface NameDialogProps {
  /** "New folder", "Rename a.tif", "Move 3 entries". */
  readonly title: string;
  readonly label: string;
  readonly description?: string;
  readonly initial: string;
  /** Whether slashes make folders of it. */
  readonly mayNest: boolean;
  readonly onClose: () => void;
  readonly save: (name: string) => Promise<void>;
}

/** Asks for a name of a file or folder. */
export function NameDialog({ title, label, description, initial, mayNest, onClose, save }: NameDialogProps) {
  const [name, setName] = useState(initial);
  const saving = useMutation({ mutationFn: () => save(name.trim()), onSuccess: onClose });
  const problem = findNameProblem(name.trim(), mayNest);
  return (
    <EditDialog
      opened
      onClose={onClose}
      title={title}
      save={saving}
      isReady={problem === undefined && name.trim() !== initial}
    >
      <TextInput
        label={label}
        {...(description !== undefined && { description })}
        value={name}
        error={name === initial ? undefined : problem}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
      />
    </EditDialog>
  );
}

/** What is wrong with a name of a file or folder. */
function findNameProblem(name: string, mayNest: boolean): string | undefined {
  const parts = name.replace(/\/$/, "").split("/");
  if (mayNest ? name !== "" && parts.some((part) => part === "") : name === "") {
    return "Parts of a path must not be empty.";
  }
  if (!mayNest && parts.length > 1) {
    return "A name has no slash.";
  }
  return new Blob([name]).size > 900 ? "A name has at most 900 bytes." : undefined;
}
