import { TextInput } from "@mantine/core";

import { isName } from "./users.ts";

interface NameInputProps {
  readonly value: string;
  readonly onChange: (name: string) => void;
}

/** The name of a new user or role. */
export function NameInput({ value, onChange }: NameInputProps) {
  return (
    <TextInput
      label="Name"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={value !== "" && !isName(value) ? "Letters, digits, and . _ @ - after the first." : undefined}
      required
      autoComplete="off"
      spellCheck={false}
      data-autofocus
    />
  );
}
