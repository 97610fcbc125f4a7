import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: string;
  /** Its name in the window and in the browser's history; the title when left out. */
  readonly name?: string;
  /** Above the title: where this page is. */
  readonly above?: ReactNode;
  /** A sentence below the title. */
  readonly about?: ReactNode;
  /** Buttons at the right. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** A page: its name in the window and as heading, what can be done, its content. */
export function Page({ title, name = title, above, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${name} · Swath`;
  }, [name]);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-end" gap="sm">
        <Box miw={0}>
          {above && <Box mb={4}>{above}</Box>}
          <Title order={1} style={{ overflowWrap: "anywhere" }}>
            {title}
          </Title>
          {about && (
            <Text c="dimmed" size="sm" mt={4} component="div">
              {about}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
