import { Group, TextInput } from "@mantine/core";

import { CopyButton } from "./copy-button.tsx";

interface SecretFieldProps {
  readonly label: string;
  readonly value: string;
}

/** A text to be copied somewhere. */
export function SecretField({ label, value }: SecretFieldProps) {
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        value={value}
        readOnly
        flex={1}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton value={value} label={`Copy the ${label.toLowerCase()}`} />
    </Group>
  );
}
