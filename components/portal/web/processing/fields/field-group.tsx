import { Fieldset, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

import type { KindInputProps } from "./kind-input-props.ts";

interface FieldGroupProps extends Pick<KindInputProps, "label" | "description" | "isRequired" | "path"> {
  /** What is wrong with the value as a whole. */
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

/** A value that several inputs give together. */
export function FieldGroup({ label, description, isRequired, path, error, children }: FieldGroupProps) {
  return (
    <Fieldset
      data-path={path}
      legend={
        <Text span size="sm" fw={500}>
          {label}
          {isRequired && (
            <Text span c="var(--mantine-color-error)" aria-hidden>
              {" *"}
            </Text>
          )}
        </Text>
      }
    >
      <Stack gap="xs">
        {description && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
        {children}
        {error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </Fieldset>
  );
}
